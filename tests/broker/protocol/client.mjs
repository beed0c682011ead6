// What docs/reference/protocol.md says, with the npm client of NATS and nothing of ours.
// node client.mjs URL PREFIX: subscribes, publishes, receives, and prints what it saw as JSON.
import { createRequire } from "node:module";
const { connect, headers, JSONCodec } = createRequire(process.env.NODE_HOME + "/")("nats");

const [url, prefix] = process.argv.slice(2);
const json = JSONCodec();
const nc = await connect({ servers: url });
const ask = async (verb, asked) =>
  json.decode((await nc.request(`${prefix}.sub.node.${verb}`, json.encode(asked), { timeout: 10000 })).data);

const seen = { deliveries: [] };
seen.put = await ask("put", { id: "dear €", selector: "price > 100", priority: 3 });
seen.many = await ask("put_many", { subscriptions: [{ id: "b", selector: "price > 10" }, { selector: "price >>" }] });
seen.list = await ask("list", {});
seen.refused = await ask("put", { selector: "price > > 100" });

const js = nc.jetstream();
const h = headers();
h.set("Nats-Msg-Id", "once");
seen.published = [];
for (const price of [120, 50, 5]) {
  seen.published.push((await js.publish(`${prefix}.events`, json.encode({ price }))).seq);
}
for (let i = 0; i < 2; i++) {
  seen.published.push((await js.publish(`${prefix}.events`, json.encode({ price: 200 }), { headers: h })).seq);
}

const opened = await ask("open", {});
const consumer = await js.consumers.get(opened.stream, opened.consumer);
const messages = await consumer.fetch({ max_messages: 3, expires: 5000 });
for await (const m of messages) {
  seen.deliveries.push({
    event: json.decode(m.data),
    sequence: Number(m.headers.get("Tamis-Event")),
    subscriptions: JSON.parse(m.headers.get("Tamis-Subscriptions")),
    priority: Number(m.headers.get("Tamis-Priority")),
    revision: Number(m.headers.get("Tamis-Revision")),
    redelivered: m.redelivered,
  });
  m.ack();
}
seen.removed = await ask("remove", { id: "b" });
seen.closed = await ask("close", {});
await nc.drain();
console.log(JSON.stringify(seen));

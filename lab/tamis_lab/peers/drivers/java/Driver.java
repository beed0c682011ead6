import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A Java package on rules and events from files; see ../../drivers.py for what is said.
 *
 * <p>Usage: Driver PEER FOLDER BUILD_SECONDS MATCH_SECONDS SAMPLE
 */
public class Driver {
    static final ObjectMapper JSON = new ObjectMapper();

    /** What is measured: E is what it calls an event. */
    interface Matcher<E> {
        /** Many at a time, where a call for each would be slow. */
        void add(List<JsonNode> rules) throws Exception;

        E event(String json) throws Exception;

        List<Integer> match(E event) throws Exception;

        int chunk();
    }

    public static void main(String[] arguments) throws Exception {
        JsonNode kinds = JSON.readTree(Path.of(arguments[1], "attributes.json").toFile());
        Matcher<?> matcher =
                arguments[0].equals("event-ruler") ? new EventRuler() : new LuceneMonitor(kinds);
        run(matcher, arguments);
    }

    static <E> void run(Matcher<E> matcher, String[] arguments) throws Exception {
        Path folder = Path.of(arguments[1]);
        double buildLimit = Double.parseDouble(arguments[2]);
        double matchLimit = Double.parseDouble(arguments[3]);
        int sample = Integer.parseInt(arguments[4]);
        List<JsonNode> rules = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("rules.jsonl"))) {
            rules.add(JSON.readTree(line));
        }
        List<E> events = new ArrayList<>();
        for (String line : Files.readAllLines(folder.resolve("events.jsonl"))) {
            events.add(matcher.event(line));
        }

        ObjectNode outcome = JSON.createObjectNode();
        long begun = System.nanoTime();
        int taken = 0;
        while (taken < rules.size() && since(begun) <= buildLimit) {
            int end = Math.min(rules.size(), taken + matcher.chunk());
            matcher.add(rules.subList(taken, end));
            taken = end;
        }
        outcome.put("rules", taken).put("build_s", since(begun));

        ArrayNode answers = outcome.putArray("answers");
        begun = System.nanoTime();
        for (int n = 0; n < Math.min(sample, events.size()) && since(begun) <= matchLimit; n++) {
            ArrayNode answer = answers.addArray();
            matcher.match(events.get(n)).forEach(answer::add);
        }
        long count = answers.size();
        double took = since(begun);
        if (took < matchLimit) {
            // As long again beforehand: Java compiles what runs often, while it runs.
            for (double limit : new double[] {matchLimit, matchLimit}) {
                begun = System.nanoTime();
                for (count = 0; (took = since(begun)) <= limit; count++) {
                    matcher.match(events.get((int) (count % events.size())));
                }
            }
        }
        outcome.put("events", count).put("match_s", took).put("peak_mb", peak());
        System.out.println(JSON.writeValueAsString(outcome));
        System.exit(0); // some leave threads behind
    }

    static double since(long begun) {
        return (System.nanoTime() - begun) / 1e9;
    }

    static double peak() throws Exception {
        Path status = Path.of("/proc/self/status");
        if (Files.exists(status)) {
            for (String line : Files.readAllLines(status)) {
                if (line.startsWith("VmHWM:")) {
                    return Double.parseDouble(line.split("\\s+")[1]) * 1024 / 1e6;
                }
            }
        }
        return 0;
    }
}

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import software.amazon.event.ruler.Machine;

/** Event Ruler: rules are patterns in JSON, events are texts in JSON, which it reads each time. */
class EventRuler implements Driver.Matcher<String> {
    private final Machine machine = Machine.builder().build();

    @Override
    public void add(List<JsonNode> rules) throws Exception {
        for (JsonNode rule : rules) {
            for (JsonNode pattern : rule.get("rules")) {
                machine.addRule(rule.get("id").asText(), pattern.asText());
            }
        }
    }

    @Override
    public String event(String json) {
        return json;
    }

    @Override
    public List<Integer> match(String event) throws Exception {
        List<Integer> ids = new ArrayList<>();
        for (String name : machine.rulesForJSONEvent(event)) {
            ids.add(Integer.valueOf(name));
        }
        return ids;
    }

    @Override
    public int chunk() {
        return 1;
    }
}

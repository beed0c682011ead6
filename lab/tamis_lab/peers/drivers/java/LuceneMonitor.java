import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.analysis.core.KeywordAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.DoublePoint;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.LongPoint;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.Term;
import org.apache.lucene.monitor.Monitor;
import org.apache.lucene.monitor.MonitorQuery;
import org.apache.lucene.monitor.QueryMatch;
import org.apache.lucene.monitor.TermFilteredPresearcher;
import org.apache.lucene.search.BooleanClause.Occur;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.PrefixQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.WildcardQuery;

/**
 * Lucene Monitor: rules are queries, events are documents.
 *
 * <p>Equalities of integers, texts and Booleans are terms, by which it finds the queries worth
 * running; ranges are points. The field PRESENT holds the names of the fields that there are.
 */
class LuceneMonitor implements Driver.Matcher<Document> {
    private static final String PRESENT = "_present";
    private final Monitor monitor;
    private final JsonNode kinds;

    LuceneMonitor(JsonNode kinds) throws Exception {
        this.kinds = kinds;
        monitor = new Monitor(new KeywordAnalyzer(), new TermFilteredPresearcher());
    }

    @Override
    public void add(List<JsonNode> rules) throws Exception {
        List<MonitorQuery> queries = new ArrayList<>();
        for (JsonNode rule : rules) {
            JsonNode tree = Driver.JSON.readTree(rule.get("rules").get(0).asText());
            queries.add(new MonitorQuery(rule.get("id").asText(), query(tree)));
        }
        monitor.register(queries);
    }

    @Override
    public int chunk() {
        return 1000;
    }

    @Override
    public Document event(String json) throws Exception {
        Document document = new Document();
        for (var field : Driver.JSON.readTree(json).properties()) {
            String name = field.getKey();
            JsonNode value = field.getValue();
            document.add(new StringField(PRESENT, name, Field.Store.NO));
            if (kinds.get(name).asText().equals("DBL")) {
                document.add(new DoublePoint(name, value.asDouble()));
            } else {
                document.add(new StringField(name, value.asText(), Field.Store.NO));
            }
            if (kinds.get(name).asText().equals("INT")) {
                document.add(new LongPoint(name + "#", value.asLong()));
            }
        }
        return document;
    }

    @Override
    public List<Integer> match(Document event) throws Exception {
        List<Integer> ids = new ArrayList<>();
        for (QueryMatch found : monitor.match(event, QueryMatch.SIMPLE_MATCHER).getMatches()) {
            ids.add(Integer.valueOf(found.getQueryId()));
        }
        return ids;
    }

    /** Nodes are [what, operands…]; see ../../lucene_monitor.py. */
    private static Query query(JsonNode node) {
        String field = node.get(1).asText();
        switch (node.get(0).asText()) {
            case "and":
                return joined(node, Occur.MUST);
            case "or":
                return joined(node, Occur.SHOULD);
            case "without":
                return new BooleanQuery.Builder()
                        .add(query(node.get(1)), Occur.MUST)
                        .add(query(node.get(2)), Occur.MUST_NOT)
                        .build();
            case "present":
                return new TermQuery(new Term(PRESENT, field));
            case "any":
                return new MatchAllDocsQuery();
            case "term":
                return new TermQuery(new Term(field, node.get(2).asText()));
            case "prefix":
                return new PrefixQuery(new Term(field, node.get(2).asText()));
            case "wildcard":
                return new WildcardQuery(new Term(field, node.get(2).asText()));
            case "long":
                return LongPoint.newRangeQuery(
                        field + "#", node.get(2).asLong(), node.get(3).asLong());
            case "double":
                return DoublePoint.newRangeQuery(field, bound(node.get(2)), bound(node.get(3)));
            default:
                throw new IllegalArgumentException(node.toString());
        }
    }

    private static BooleanQuery joined(JsonNode node, Occur occur) {
        BooleanQuery.Builder builder = new BooleanQuery.Builder();
        for (int n = 1; n < node.size(); n++) {
            builder.add(query(node.get(n)), occur);
        }
        return builder.build();
    }

    /** JSON has no infinity, so it is a text. */
    private static double bound(JsonNode node) {
        return node.isTextual() ? Double.parseDouble(node.asText()) : node.asDouble();
    }
}

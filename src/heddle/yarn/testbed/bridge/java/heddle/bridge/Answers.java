package heddle.bridge;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** What the endpoint says, as JSON. */
final class Answers {
  private static final String BUILD = build();

  private Answers() {}

  static String done() {
    return "{\"accepted\": true, \"version\": " + Bridge.lastVersion() + "}\n";
  }

  static String state(boolean active, String user, boolean needsSecret) {
    Table table = Bridge.current();
    Counters counters = Bridge.COUNTERS;
    return "{\"bridge\": 1, \"build\": " + quoted(BUILD) + ", \"instance\": " + quoted(Bridge.INSTANCE)
        + ", \"active\": " + active + ", \"user\": " + quoted(String.valueOf(user)) + ", \"needs_secret\": " + needsSecret
        + ", \"last_version\": " + Bridge.lastVersion()
        + ", \"table\": " + (table == null ? "null" : table(table))
        + ", \"off\": " + quoted(Bridge.BREAKER.why())
        + ", \"last_request\": " + Bridge.NEWCOMERS.last() + ", \"unknown_requests\": " + Bridge.NEWCOMERS.size()
        + ", \"walks\": " + counters.walks + ", \"stock_walks\": " + counters.stockWalks
        + ", \"offers\": " + counters.offers + ", \"vetoed\": " + counters.vetoed + ", \"held\": " + counters.held
        + ", \"tables_accepted\": " + counters.accepted + ", \"tables_refused\": " + counters.refused
        + ", \"errors\": " + counters.errors + ", \"last_error\": " + quoted(counters.lastError)
        + ", \"added_ns\": " + counters.nanos + ", \"slowest_ns\": " + counters.slowest
        + ", \"walks_by_log2_ns\": " + counters.walksByLog2Ns
        + ", \"named_after_us\": " + counters.namedAfterUs + "}\n";
  }

  private static String table(Table table) {
    return "{\"version\": " + table.version + ", \"left_ms\": " + Bridge.leftMs() + ", \"requests\": " + table.requests()
        + ", \"bytes\": " + table.bytes + ", \"form\": " + quoted(table.form.name()) + "}";
  }

  static String requests(long after, long waitMs) throws InterruptedException {
    List<Newcomers.Newcomer> found = Bridge.NEWCOMERS.after(after, waitMs);
    StringBuilder text = new StringBuilder("{\"requests\": [");
    long last = after;
    String comma = "";
    for (Newcomers.Newcomer one : found) {
      last = Math.max(last, one.number);
      Asking asking = one.asking();
      int containers = asking == null ? 0 : asking.containers();
      if (containers > 0) {
        Size size = asking.size();
        text.append(comma).append("{\"number\": ").append(one.number).append(asked(asking.ask()))
            .append(", \"queue\": ").append(quoted(asking.queue())).append(sized(size))
            .append(", \"containers\": ").append(containers).append('}');
        comma = ", ";
      }
    }
    return text.append("], \"last\": ").append(last).append(", \"missed\": ").append(Bridge.NEWCOMERS.missed(after))
        .append("}\n").toString();
  }

  static String allocations(long after) {
    StringBuilder text = new StringBuilder("{\"allocations\": [");
    String comma = "";
    for (Allocations.Allocation one : Bridge.ALLOCATIONS.after(after)) {
      text.append(comma).append("{\"number\": ").append(one.number).append(", \"at_ms\": ").append(one.atMs)
          .append(", \"container\": ").append(quoted(one.container.toString())).append(asked(one.ask))
          .append(", \"node\": ").append(quoted(one.node.toString())).append(sized(one.size))
          .append(", \"table\": ").append(one.table).append('}');
      comma = ", ";
    }
    return text.append("]}\n").toString();
  }

  private static String asked(Ask ask) {
    return ", \"app\": " + quoted(ask.app.toString()) + ", \"priority\": " + ask.priority
        + ", \"allocation\": " + ask.allocation;
  }

  private static String sized(Size size) {
    return ", \"memory_mb\": " + size.memory + ", \"millicores\": " + size.vcores;
  }

  private static String quoted(String text) {
    StringBuilder quoted = new StringBuilder("\"");
    for (char one : text.toCharArray()) {
      if (one == '"' || one == '\\') {
        quoted.append('\\').append(one);
      } else if (one < ' ') {
        quoted.append(String.format("\\u%04x", (int) one));
      } else {
        quoted.append(one);
      }
    }
    return quoted.append('"').toString();
  }

  private static String build() {
    try (InputStream file = Answers.class.getResourceAsStream("build")) {
      return file == null ? "unknown"
          : new BufferedReader(new InputStreamReader(file, StandardCharsets.UTF_8)).readLine();
    } catch (IOException problem) {
      return "unknown";
    }
  }
}

package heddle.bridge;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * What decides, driven by lines: "table N" and N lines; "gone APP PRIORITY ALLOCATION"; "unserved APP PRIORITY ALLOCATION
 * MS"; "gave NODE MB MILLICORES"; of the breaker "failed AT_MS", "took AT_MS US", "on" and "off?"; "choose NODE LEAF MB MILLICORES HOW_MANY" (what is free), which is answered with so many requests.
 */
public final class CoreDriver implements Host {
  private final Set<Ask> gone = new HashSet<>();
  private final Map<Ask, Long> unserved = new HashMap<>();
  private final BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
  private final Breaker breaker = new Breaker();
  private Table table;
  private int asked;

  @Override
  public boolean waits(Request request, Size size) {
    return !gone.contains(request.ask);
  }

  @Override
  public long unservedMs(Request request) {
    return unserved.getOrDefault(request.ask, 0L);
  }

  @Override
  public int asked() {
    return asked;
  }

  public static void main(String[] arguments) throws IOException {
    new CoreDriver().run();
  }

  private void run() throws IOException {
    StringBuilder answers = new StringBuilder();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] w = line.split(" ");
      if (w[0].equals("table")) {
        answers.append(read(Integer.parseInt(w[1]))).append('\n');
      } else if (w[0].equals("gone")) {
        gone.add(ask(w));
      } else if (w[0].equals("asks")) {
        gone.remove(ask(w));
        asked++;
      } else if (w[0].equals("unserved")) {
        unserved.put(ask(w), Long.parseLong(w[4]));
      } else if (w[0].equals("failed")) {
        breaker.failed(new IllegalStateException("a test"), 1_000_000 * Long.parseLong(w[1]));
      } else if (w[0].equals("took")) {
        breaker.took(1000 * Long.parseLong(w[2]), 1_000_000 * Long.parseLong(w[1]));
      } else if (w[0].equals("on")) {
        breaker.turnOn();
      } else if (w[0].equals("off?")) {
        answers.append(breaker.isOff() ? breaker.why() : "no").append('\n');
      } else if (w[0].equals("gave")) {
        table.gave(w[1], size(w, 2));
      } else {
        Node node = table.node(w[1], size(w, 3), size(w, 3));
        Candidates candidates = new Candidates(table, table.groups(w[2]), node, this);
        for (int i = 0; i < Integer.parseInt(w[5]); i++) {
          Request next = candidates.next();
          answers.append(i == 0 ? "" : "; ").append(next == null ? "-" : next.ask);
        }
        answers.append('\n');
      }
    }
    System.out.print(answers);
  }

  private String read(int count) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < count; i++) {
      text.append(lines.readLine()).append('\n');
    }
    gone.clear();
    unserved.clear();
    asked++;
    try {
      table = TableReader.read(text.toString().getBytes(StandardCharsets.UTF_8));
      return "read " + table.version + " " + table.leaseMs + " " + table.holdMs + " " + table.patienceMs;
    } catch (TableRefused refused) {
      return "refused: " + refused.getMessage();
    }
  }

  private static Ask ask(String[] w) {
    return new Ask(App.of(w[1]), Integer.parseInt(w[2]), Long.parseLong(w[3]));
  }

  private static Size size(String[] w, int from) {
    return new Size(Long.parseLong(w[from]), Long.parseLong(w[from + 1]));
  }
}

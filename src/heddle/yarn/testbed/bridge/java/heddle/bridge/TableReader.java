package heddle.bridge;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Reads a table: whole, or not at all. Lines of words; what comes later may speak of what came before.
 *
 * <pre>
 * heddle-table 1 VERSION LEASE_MS
 * form key|fit|scaled|aligned FITNESS ALIGNMENT_MILLI     counts MEMORY VCORES
 * hold MS     patience MS     reserve     step-over-vetoed
 * node NAME OWN_MB OWN_MILLICORES                         numbered from 0
 * set N NODE ...                                          nodes by number, for vetoes
 * leaf NAME     size MB MILLICORES                        of the requests that follow
 * request APP PRIORITY ALLOCATION KEY TERM RANK AHEAD SET     (SET: - or the number of a set)
 * plan NODE MB MILLICORES COUNT
 * end LINES
 * </pre>
 */
final class TableReader {
  static final int MOST_BYTES = 4 << 20;
  static final long LONGEST_LEASE_MS = 60_000;
  static final long LONGEST_HOLD_MS = 10_000;
  static final long LONGEST_PATIENCE_MS = 120_000;
  private static final long LARGEST = 1L << 40; // an amount that a fit can be computed from
  private static final long LARGEST_TERM = 1L << 41;

  long version, leaseMs, holdMs, alignmentMilli;
  long patienceMs = LONGEST_PATIENCE_MS;
  Form form = Form.KEY;
  boolean fitness, memoryCounts = true, vcoresCount = true, reserves, stepOverVetoed;
  int bytes;
  final Map<Ask, Request> requests = new HashMap<>();
  final Map<String, Integer> nodes = new HashMap<>();
  final List<Size> nodeSizes = new ArrayList<>();
  private final Map<String, Map<Size, List<Request>>> bySize = new LinkedHashMap<>();
  private final Map<Integer, Map<Size, AtomicInteger>> planned = new HashMap<>();
  private final List<BitSet> sets = new ArrayList<>();
  private Map<Size, List<Request>> leaf;
  private List<Request> group;
  private Size size;

  private TableReader() {}

  static Table read(byte[] body) throws TableRefused {
    if (body.length > MOST_BYTES) {
      throw new TableRefused("more than " + MOST_BYTES + " bytes");
    }
    TableReader reader = new TableReader();
    reader.bytes = body.length;
    String[] lines = new String(body, StandardCharsets.UTF_8).split("\n", -1);
    int last = lines.length - 1;
    if (last < 1 || !lines[last].isEmpty() || !lines[last - 1].equals("end " + (last - 1))) {
      throw new TableRefused("cut off: the last line must be `end` with the number of lines before it");
    }
    for (int i = 0; i < last - 1; i++) {
      try {
        reader.line(lines[i].split(" ", -1), i == 0);
      } catch (RuntimeException | TableRefused problem) {
        throw new TableRefused("line " + (i + 1) + " cannot be read: " + problem.getMessage());
      }
    }
    if (last == 1) {
      throw new TableRefused("empty");
    }
    return new Table(reader);
  }

  private void line(String[] w, boolean first) throws TableRefused {
    if (first != w[0].equals("heddle-table")) {
      throw new TableRefused("a table begins, once, with heddle-table");
    }
    switch (w[0]) {
      case "heddle-table":
        length(w, 4);
        if (number(w[1], 0, Long.MAX_VALUE) != 1) {
          throw new TableRefused("tables of version 1 are known, not " + w[1]);
        }
        version = number(w[2], 1, Long.MAX_VALUE);
        leaseMs = Math.min(LONGEST_LEASE_MS, number(w[3], 1, Long.MAX_VALUE));
        return;
      case "form":
        length(w, 4);
        form = formOf(w[1]);
        fitness = flag(w[2]);
        alignmentMilli = number(w[3], 0, 1_000_000);
        return;
      case "counts":
        length(w, 3);
        memoryCounts = flag(w[1]);
        vcoresCount = flag(w[2]);
        return;
      case "hold":
        length(w, 2);
        holdMs = Math.min(LONGEST_HOLD_MS, number(w[1], 0, Long.MAX_VALUE));
        return;
      case "patience":
        length(w, 2);
        patienceMs = Math.min(LONGEST_PATIENCE_MS, number(w[1], 0, Long.MAX_VALUE));
        return;
      case "reserve":
        length(w, 1);
        reserves = true;
        return;
      case "step-over-vetoed":
        length(w, 1);
        stepOverVetoed = true;
        return;
      case "node":
        length(w, 4);
        if (nodes.put(w[1], nodes.size()) != null) {
          throw new TableRefused("a second node " + w[1]);
        }
        nodeSizes.add(sizeOf(w[2], w[3]));
        return;
      case "set":
        set(w);
        return;
      case "leaf":
        length(w, 2);
        leaf = bySize.computeIfAbsent(w[1], name -> new LinkedHashMap<>());
        group = null;
        return;
      case "size":
        length(w, 3);
        present(leaf, "leaf");
        size = sizeOf(w[1], w[2]);
        group = leaf.computeIfAbsent(size, wanted -> new ArrayList<>());
        return;
      case "request":
        request(w);
        return;
      case "plan":
        length(w, 5);
        planned.computeIfAbsent(node(w[1]), which -> new HashMap<>())
            .put(sizeOf(w[2], w[3]), new AtomicInteger((int) number(w[4], 1, 1_000_000)));
        return;
      default:
        throw new TableRefused("no such word: " + w[0]);
    }
  }

  private void set(String[] w) throws TableRefused {
    if (w.length < 2 || number(w[1], 0, Integer.MAX_VALUE) != sets.size()) {
      throw new TableRefused("sets are numbered from 0");
    }
    BitSet set = new BitSet(nodes.size());
    for (int i = 2; i < w.length; i++) {
      set.set(node(w[i]));
    }
    sets.add(set);
  }

  private void request(String[] w) throws TableRefused {
    length(w, 9);
    present(group, "size");
    Ask ask = new Ask(App.of(w[1]), (int) number(w[2], Integer.MIN_VALUE, Integer.MAX_VALUE),
        number(w[3], Long.MIN_VALUE, Long.MAX_VALUE));
    BitSet vetoed = w[8].equals("-") ? null : sets.get((int) number(w[8], 0, sets.size() - 1));
    Request request = new Request(ask, size, number(w[4], -(1L << 62), 1L << 62), number(w[5], 0, LARGEST_TERM),
        number(w[6], 0, Long.MAX_VALUE), flag(w[7]), vetoed);
    if (requests.put(ask, request) != null) {
      throw new TableRefused("a second request " + ask);
    }
    group.add(request);
  }

  Map<String, List<Group>> groups() {
    Map<String, List<Group>> found = new HashMap<>();
    bySize.forEach((name, sizes) -> {
      List<Group> groups = new ArrayList<>(sizes.size());
      sizes.forEach((wanted, of) -> {
        Request[] sorted = of.toArray(new Request[0]);
        Arrays.sort(sorted, (a, b) -> a == b ? 0 : a.before(b) ? -1 : b.before(a) ? 1 : 0);
        groups.add(new Group(wanted, sorted));
      });
      found.put(name, Collections.unmodifiableList(groups));
    });
    return found;
  }

  /** The least term of each size, in all leaves: what scaling a term begins at. Those that go ahead have none. */
  Map<Size, Long> leastTerms() {
    Map<Size, Long> found = new HashMap<>();
    bySize.values().forEach(sizes -> sizes.forEach((wanted, of) -> {
      for (Request request : of) {
        if (!request.ahead) {
          found.merge(wanted, request.term, Math::min);
        }
      }
    }));
    return found;
  }

  Map<App, Integer> apps() {
    Map<App, Integer> found = new HashMap<>();
    requests.keySet().forEach(ask -> found.merge(ask.app, 1, Integer::sum));
    return found;
  }

  @SuppressWarnings("unchecked")
  Map<Size, AtomicInteger>[] plans() {
    Map<Size, AtomicInteger>[] found = new Map[nodes.size()];
    planned.forEach((node, plan) -> found[node] = plan);
    return found;
  }

  private int node(String word) throws TableRefused {
    return (int) number(word, 0, nodes.size() - 1L);
  }

  private static Form formOf(String word) throws TableRefused {
    for (Form form : Form.values()) {
      if (form.name().toLowerCase(java.util.Locale.ROOT).equals(word)) {
        return form;
      }
    }
    throw new TableRefused("no such form: " + word);
  }

  private static Size sizeOf(String memory, String vcores) throws TableRefused {
    return new Size(number(memory, 0, LARGEST), number(vcores, 0, LARGEST));
  }

  private static boolean flag(String word) throws TableRefused {
    return number(word, 0, 1) == 1;
  }

  private static void length(String[] words, int wanted) throws TableRefused {
    if (words.length != wanted) {
      throw new TableRefused(words[0] + " has " + (wanted - 1) + " words behind it, not " + (words.length - 1));
    }
  }

  private static void present(Object before, String what) throws TableRefused {
    if (before == null) {
      throw new TableRefused("there was no " + what + " before it");
    }
  }

  private static long number(String word, long least, long most) throws TableRefused {
    long value;
    try {
      value = Long.parseLong(word);
    } catch (NumberFormatException problem) {
      throw new TableRefused("not a number: " + word);
    }
    if (value < least || value > most) {
      throw new TableRefused(word + " is not from " + least + " to " + most);
    }
    return value;
  }
}

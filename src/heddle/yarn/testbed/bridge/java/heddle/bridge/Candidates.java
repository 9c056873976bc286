package heddle.bridge;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;

/**
 * The requests of a leaf that could go to a node now, the best first. One of each size is weighed, as the simulator does:
 * the cost is in sizes, not in requests. What next() has given out and YARN did not take (a user at its limit, say) is
 * followed by the next of its size.
 */
final class Candidates {
  private final Table table;
  private final Node node;
  private final Host host;
  private final PriorityQueue<Candidate> best;
  private long leastKey, mostKey, leastFit, mostFit, leastTerm, mostTerm;
  private long vetoes; // that kept a request from the node

  private static final class Candidate {
    final Group group;
    final int place;
    final long fit;
    long value;

    Candidate(Group group, int place, long fit) {
      this.group = group;
      this.place = place;
      this.fit = fit;
    }

    Request request() {
      return group.requests[place];
    }
  }

  Candidates(Table table, List<Group> groups, Node node, Host host) {
    this.table = table;
    this.node = node;
    this.host = host;
    List<Candidate> found = new ArrayList<>(groups.size());
    for (Group group : groups) {
      if (fits(group.size)) {
        int place = allowed(group, group.first(host));
        if (place < group.requests.length) {
          found.add(new Candidate(group, place, fit(group.size)));
        }
      }
    }
    extremes(found);
    best = new PriorityQueue<>(Math.max(1, found.size()), (a, b) -> {
      int order = Long.compare(b.value, a.value);
      return order != 0 ? order : a.request() == b.request() ? 0 : a.request().before(b.request()) ? -1 : 1;
    });
    for (Candidate candidate : found) {
      candidate.value = value(candidate);
      best.add(candidate);
    }
  }

  /** The best of those that are left; null: there is none. */
  Request next() {
    Candidate first = best.poll();
    if (first == null) {
      return null;
    }
    for (int i = first.place + 1; i < first.group.requests.length; i++) {
      if (host.waits(first.group.requests[i], first.group.size)) {
        int place = allowed(first.group, i);
        if (place < first.group.requests.length) {
          Candidate follower = new Candidate(first.group, place, first.fit);
          follower.value = value(follower);
          best.add(follower);
        }
        break;
      }
    }
    return first.request();
  }

  long vetoes() {
    return vetoes;
  }

  private boolean fits(Size size) {
    return (!table.memoryCounts || size.memory <= node.free.memory)
        && (!table.vcoresCount || size.vcores <= node.free.vcores);
  }

  private long fit(Size size) {
    long value = table.form != Form.KEY && table.fitness ? Form.fit(size, node, table.memoryCounts, table.vcoresCount) : 0;
    return table.isPlanned(node, size) ? value + Form.PLANNED : value;
  }

  /** From this place on the first that may go to the node, or the length: a veto of one may stop those behind it. */
  private int allowed(Group group, int from) {
    int length = group.requests.length;
    for (int i = from; i < length; i++) {
      Request request = group.requests[i];
      if (i > from && !host.waits(request, group.size)) {
        continue;
      }
      if (!table.vetoes(request, node, host)) {
        return i;
      }
      vetoes++;
      if (!table.stepOverVetoed) {
        return length;
      }
    }
    return length;
  }

  private void extremes(List<Candidate> found) {
    leastKey = leastFit = Long.MAX_VALUE;
    mostKey = mostFit = Long.MIN_VALUE;
    mostTerm = Long.MIN_VALUE;
    leastTerm = leastTerm();
    for (Candidate candidate : found) {
      Request request = candidate.request();
      leastKey = Math.min(leastKey, request.key);
      mostKey = Math.max(mostKey, request.key);
      leastFit = Math.min(leastFit, candidate.fit);
      mostFit = Math.max(mostFit, candidate.fit);
      mostTerm = Math.max(mostTerm, request.term);
    }
  }

  /** Of all requests that fit, not only of those weighed: of one size only the most urgent is, and it has not the least. */
  private long leastTerm() {
    long least = Long.MAX_VALUE;
    for (Map.Entry<Size, Long> one : table.leastTerms.entrySet()) {
      if (one.getValue() < least && fits(one.getKey())) {
        least = one.getValue();
      }
    }
    return least == Long.MAX_VALUE ? 0 : least;
  }

  private long value(Candidate candidate) {
    Request request = candidate.request();
    if (request.ahead) {
      return -request.key;
    }
    if (candidate.fit >= Form.PLANNED) {
      return Form.PLANNED;
    }
    switch (table.form) {
      case KEY:
        return 0;
      case FIT:
        return candidate.fit;
      default:
        long scaled = Form.between(candidate.fit, leastFit, mostFit) + Form.between(request.term, leastTerm, mostTerm);
        return table.form == Form.SCALED ? scaled : scaled + aligned(request);
    }
  }

  private long aligned(Request request) {
    long least = -mostKey >> Form.ALIGNMENT_BITS;
    long most = -leastKey >> Form.ALIGNMENT_BITS;
    long aligned = Form.between(-request.key >> Form.ALIGNMENT_BITS, least, most);
    return Math.floorDiv(table.alignmentMilli * aligned, 1000L);
  }
}

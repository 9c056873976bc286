package heddle.bridge;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerApplicationAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.PendingAsk;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.AppPlacementAllocator;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.SchedulableEntity;

/**
 * One walk of a leaf for one container. YARN takes applications from it, lets each try its requests, and ends the walk with
 * the first that gets something. So each step hands out the application of the next best request, and BridgeAllocator turns
 * down all its other requests. The first step finds out which node it is about; AMs that the table does not name come
 * next, in stock order; then requests by the table; at last those that it does not name.
 */
final class Walk<S extends SchedulableEntity> implements Iterator<S>, Host {
  private static final long LOOK_AROUND_NS = 1_000_000_000L;
  private static final int MANY_NEWCOMERS = 256;
  private static final Map<String, Long> LOOKED_AROUND = new ConcurrentHashMap<>(); // leaf -> when
  private final Table table;
  private final Members<S> members;
  private final Iterator<S> entities; // in stock order
  private final List<S> asking = new ArrayList<>(); // of these, those seen so far that ask for something
  private final Offer offer = new Offer();
  private String leaf = "";
  private int probed;
  private Iterator<S> ams;
  private Candidates candidates; // null until the node is known
  private Iterator<S> rest; // null until the table has nobody left
  private boolean stock; // something went wrong: the rest is as in stock YARN
  private S next;
  private long spentNs;

  Walk(Table table, Members<S> members, Iterator<S> entities) {
    long began = Bridge.threadNs();
    this.table = table;
    this.members = members;
    this.entities = entities;
    if (oneMore()) {
      leaf = Yarn.leaf(app(asking.get(0)));
      if (!table.speaksOf(leaf)) {
        goStock();
      }
    }
    spentNs = Bridge.threadNs() - began;
  }

  private boolean oneMore() {
    while (entities.hasNext()) {
      S entity = entities.next();
      if (entity instanceof SchedulerApplicationAttempt && !app(entity).getSchedulerKeys().isEmpty()) {
        asking.add(entity);
        return true;
      }
    }
    return false;
  }

  /** Everybody who asks for something, in stock order. */
  private List<S> all() {
    while (oneMore()) {}
    return asking;
  }

  @Override
  public boolean hasNext() {
    if (next == null) {
      try {
        next = find();
      } catch (Throwable problem) {
        Bridge.failed(problem);
        goStock();
        next = rest.hasNext() ? rest.next() : null;
      }
      if (next == null) {
        Offer.clear();
      }
    }
    return next != null;
  }

  @Override
  public S next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    S found = next;
    next = null;
    return found;
  }

  private void goStock() {
    Offer.clear();
    stock = true;
    rest = all().iterator();
  }

  private S find() {
    if (!stock && candidates == null) {
      if (offer.node == null && !offer.elsewhere) {
        return probed < asking.size() || oneMore() ? hand(asking.get(probed++), Offer.To.NOBODY) : null;
      }
      if (offer.elsewhere || offer.node.getReservedContainer() != null) {
        goStock();
      } else {
        weigh();
      }
    }
    if (!stock && ams.hasNext()) {
      return hand(ams.next(), Offer.To.ALL);
    }
    if (!stock && rest == null) {
      Request request = candidates.next();
      if (request != null) {
        Bridge.COUNTERS.offers.increment();
        offer.key = Yarn.key(request);
        return hand(members.get(request.ask.app), Offer.To.ONE);
      }
      Bridge.COUNTERS.vetoed.add(candidates.vetoes());
      rest = (table.reserves ? all() : withUnknown()).iterator();
    }
    if (!rest.hasNext()) {
      return null;
    }
    return stock ? rest.next() : hand(rest.next(), table.reserves ? Offer.To.ALL : Offer.To.UNKNOWN);
  }

  private void weigh() {
    long began = Bridge.threadNs();
    ams = unnamedAms().iterator();
    Size free = Yarn.size(offer.node.getUnallocatedResource());
    Node node = table.node(Yarn.name(offer.node), free, Yarn.size(offer.node.getTotalResource()));
    candidates = new Candidates(table, table.groups(leaf), node, this);
    Bridge.walked(spentNs + Bridge.threadNs() - began);
  }

  private List<S> unnamedAms() {
    List<S> unnamed = new ArrayList<>();
    for (S entity : members.haveUnnamedAm(table) ? all() : Collections.<S>emptyList()) {
      if (app(entity).isWaitingForAMContainer() && !table.names(Members.appOf(entity))) {
        unnamed.add(entity);
      }
    }
    return unnamed;
  }

  private S hand(S entity, Offer.To to) {
    offer.app = app(entity).getApplicationId();
    offer.queue = app(entity).getQueueName();
    offer.to = to;
    offer.put();
    return entity;
  }

  /**
   * Applications, in stock order, of which a request may wait that the table does not name: those of newcomers or, once a
   * second, all. To try all of them each time would cost a look at every request.
   */
  private List<S> withUnknown() {
    long now = System.nanoTime();
    Long looked = LOOKED_AROUND.get(leaf);
    if (looked == null || now - looked > LOOK_AROUND_NS) {
      LOOKED_AROUND.put(leaf, now);
      return all();
    }
    if (Bridge.NEWCOMERS.size() > MANY_NEWCOMERS) {
      return all();
    }
    Set<S> found = new HashSet<>();
    for (Newcomers.Newcomer one : Bridge.NEWCOMERS.after(0)) {
      Asking came = one.asking();
      S entity = came == null ? null : members.get(came.ask().app);
      if (entity != null && !isNamed(came)) {
        found.add(entity);
      }
    }
    List<S> inOrder = new ArrayList<>();
    for (S entity : found.isEmpty() ? Collections.<S>emptyList() : all()) {
      if (found.contains(entity)) {
        inOrder.add(entity);
      }
    }
    return inOrder;
  }

  /** One that asks again is a newcomer, too, but the table may know it from before. */
  private boolean isNamed(Asking one) {
    Request request = table.request(one.ask());
    return request != null && request.size.equals(one.size());
  }

  @Override
  public boolean waits(Request request, Size size) {
    S entity = members.get(request.ask.app);
    if (entity == null || request.ahead && !app(entity).isWaitingForAMContainer()) {
      return false; // an AM that was named has come meanwhile, and others may ask at its priority
    }
    PendingAsk ask = app(entity).getPendingAsk(Yarn.key(request), ResourceRequest.ANY);
    return ask.getCount() > 0 && size.equals(Yarn.size(ask.getPerAllocationResource()));
  }

  @Override
  public long unservedMs(Request request) {
    AppPlacementAllocator<?> allocator = app(members.get(request.ask.app)).getAppPlacementAllocator(Yarn.key(request));
    return allocator instanceof BridgeAllocator ? ((BridgeAllocator<?>) allocator).unservedMs() : Long.MAX_VALUE;
  }

  @Override
  public int asked() {
    return Bridge.ASKED.get();
  }

  private SchedulerApplicationAttempt app(S entity) {
    return Members.attempt(entity);
  }
}

package heddle.bridge;

import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.RMApp;
import org.apache.hadoop.yarn.server.resourcemanager.rmapp.attempt.RMAppAttempt;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.NodeType;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.SchedulerNode;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.common.ContainerRequest;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSet;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.CandidateNodeSetUtils;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.LocalityAppPlacementAllocator;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.placement.PendingAskUpdateResult;
import org.apache.hadoop.yarn.server.scheduler.SchedulerRequestKey;

/** One for each request of each application: the one place where YARN shows a request and a node together. */
public class BridgeAllocator<N extends SchedulerNode> extends LocalityAppPlacementAllocator<N> implements Asking {
  private volatile long askedAtNs = System.nanoTime();
  private volatile long unservedSinceNs = askedAtNs;
  private volatile boolean waits;

  @Override
  public Iterator<N> getPreferredNodeIterator(CandidateNodeSet<N> candidates) {
    boolean may = true;
    try {
      may = may(candidates);
    } catch (Throwable problem) { // nothing of ours may stop the scheduler
      Bridge.failed(problem);
    }
    return may ? super.getPreferredNodeIterator(candidates) : Collections.emptyIterator();
  }

  /** Whether this request may have the node now. Whatever the bridge does not know or cannot do is stock: yes. */
  private boolean may(CandidateNodeSet<N> candidates) {
    Table table = Bridge.current();
    if (table == null) {
      return true;
    }
    N node = CandidateNodeSetUtils.getSingleNode(candidates);
    Offer offer = Offer.onThread();
    boolean ours = offer != null && offer.app.equals(appSchedulingInfo.getApplicationId())
        && offer.queue.equals(appSchedulingInfo.getQueueName());
    if (ours && offer.to == Offer.To.NOBODY) {
      offer.node = node;
      offer.elsewhere = node == null;
      return false;
    }
    if (node == null || node.getReservedContainer() != null) { // several nodes at once; the turn of who reserved it
      return true;
    }
    if (ours && offer.to == Offer.To.ONE) {
      return offer.key.equals(schedulerRequestKey);
    }
    Request request = table.request(ask());
    if (request == null || !request.size.equals(size())) { // asked for otherwise since: not what the table names
      return !ours || !isHeld(table);
    }
    if (ours && offer.to == Offer.To.UNKNOWN) {
      return false;
    }
    return !vetoes(table, request, node);
  }

  private boolean vetoes(Table table, Request request, N node) {
    if (request.vetoed == null || unservedMs() >= table.patienceMs) {
      return false;
    }
    Size total = Yarn.size(node.getTotalResource());
    Node offered = table.node(Yarn.name(node), total, total);
    boolean vetoed = offered.number >= 0 && request.vetoed.get(offered.number);
    if (vetoed) {
      Bridge.COUNTERS.vetoed.increment();
    }
    return vetoed;
  }

  /** Whether it is so young that a table which names it may be on its way. Never an AM's. */
  boolean isHeld(Table table) {
    if (System.nanoTime() - askedAtNs >= table.holdMs * 1_000_000) {
      return false;
    }
    RMApp app = rmContext.getRMApps().get(appSchedulingInfo.getApplicationId());
    RMAppAttempt attempt = app == null ? null : app.getCurrentAppAttempt();
    boolean held = attempt != null && attempt.getMasterContainer() != null;
    if (held) {
      Bridge.COUNTERS.held.increment();
    }
    return held;
  }

  long unservedMs() {
    return (System.nanoTime() - unservedSinceNs) / 1_000_000;
  }

  @Override
  public PendingAskUpdateResult updatePendingAsk(Collection<ResourceRequest> requests, boolean recover) {
    PendingAskUpdateResult result = super.updatePendingAsk(requests, recover);
    try {
      noteAsk();
    } catch (Throwable problem) {
      Bridge.failed(problem);
    }
    return result;
  }

  private void noteAsk() {
    boolean now = getOutstandingAsksCount(ResourceRequest.ANY) > 0;
    if (now) {
      Bridge.ASKED.incrementAndGet();
    }
    if (now && !waits) {
      askedAtNs = unservedSinceNs = System.nanoTime();
      Bridge.NEWCOMERS.add(this);
    }
    waits = now;
  }

  @Override
  public ContainerRequest allocate(SchedulerRequestKey key, NodeType type, SchedulerNode node) {
    ContainerRequest given = super.allocate(key, type, node);
    try {
      unservedSinceNs = System.nanoTime();
      waits = getOutstandingAsksCount(ResourceRequest.ANY) > 0;
    } catch (Throwable problem) {
      Bridge.failed(problem);
    }
    return given;
  }

  @Override
  public Ask ask() {
    return Yarn.ask(appSchedulingInfo.getApplicationId(), schedulerRequestKey);
  }

  @Override
  public String queue() {
    return appSchedulingInfo.getQueueName();
  }

  @Override
  public Size size() {
    return Yarn.size(getPendingAsk(ResourceRequest.ANY).getPerAllocationResource());
  }

  @Override
  public int containers() {
    RMApp app = rmContext.getRMApps().get(appSchedulingInfo.getApplicationId());
    return app == null || app.isAppInCompletedStates() ? 0 : getOutstandingAsksCount(ResourceRequest.ANY);
  }
}

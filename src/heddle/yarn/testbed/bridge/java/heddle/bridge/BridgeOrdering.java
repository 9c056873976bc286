package heddle.bridge;

import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.Map;
import org.apache.hadoop.yarn.server.resourcemanager.rmcontainer.RMContainer;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FairOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.FifoOrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.IteratorSelector;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.OrderingPolicy;
import org.apache.hadoop.yarn.server.resourcemanager.scheduler.policy.SchedulableEntity;

/**
 * The order in which a leaf offers a node to requests: by the table or, without one, a stock order underneath. Our own part
 * of every method is guarded: whatever it throws, YARN sees the stock order.
 */
public class BridgeOrdering<S extends SchedulableEntity> implements OrderingPolicy<S> {
  private OrderingPolicy<S> stock = new FifoOrderingPolicy<>();
  private final Members<S> members = new Members<>();
  private volatile boolean missesSome; // of the members: no table can be followed then

  @Override
  public void configure(Map<String, String> settings) {
    if (settings != null && "fair".equals(settings.get("stock"))) {
      stock = new FairOrderingPolicy<>();
    }
    stock.configure(settings);
  }

  @Override
  public Iterator<S> getAssignmentIterator(IteratorSelector selector) {
    try {
      Offer.clear();
      Table table = Bridge.current();
      if (table != null && !missesSome) {
        return new Walk<>(table, members, stock.getAssignmentIterator(selector));
      }
      Bridge.COUNTERS.stockWalks.increment();
    } catch (Throwable problem) {
      Bridge.failed(problem);
    }
    return stock.getAssignmentIterator(selector);
  }

  @Override
  public void containerAllocated(S entity, RMContainer container) {
    try {
      note(container);
    } catch (Throwable problem) {
      Bridge.failed(problem);
    }
    stock.containerAllocated(entity, container);
  }

  private static void note(RMContainer container) {
    Table table = Bridge.current();
    Size size = Yarn.size(container.getAllocatedResource());
    Ask ask = Yarn.ask(container.getApplicationAttemptId().getApplicationId(), container.getAllocatedSchedulerKey());
    Bridge.ALLOCATIONS.add(container.getContainerId(), ask, container.getAllocatedNode(), size,
        table == null ? 0 : table.version);
    if (table != null && !container.isAMContainer()) {
      table.gave(container.getAllocatedNode().toString(), size);
    }
  }

  @Override
  public void containerReleased(S entity, RMContainer container) {
    stock.containerReleased(entity, container);
  }

  @Override
  public void demandUpdated(S entity) {
    stock.demandUpdated(entity);
  }

  @Override
  public Collection<S> getSchedulableEntities() {
    return stock.getSchedulableEntities();
  }

  @Override
  public Iterator<S> getPreemptionIterator() {
    return stock.getPreemptionIterator();
  }

  @Override
  public void addSchedulableEntity(S entity) {
    stock.addSchedulableEntity(entity);
    came(Collections.singleton(entity));
  }

  @Override
  public boolean removeSchedulableEntity(S entity) {
    try {
      members.remove(entity);
    } catch (Throwable problem) {
      Bridge.failed(problem);
    }
    return stock.removeSchedulableEntity(entity);
  }

  @Override
  public void addAllSchedulableEntities(Collection<S> entities) {
    stock.addAllSchedulableEntities(entities);
    came(entities);
  }

  private void came(Collection<S> entities) {
    try {
      entities.forEach(members::add);
      Bridge.ASKED.incrementAndGet();
    } catch (Throwable problem) {
      missesSome = true;
      Bridge.failed(problem);
    }
  }

  @Override
  public int getNumSchedulableEntities() {
    return stock.getNumSchedulableEntities();
  }

  @Override
  public String getInfo() {
    return "BridgeOrdering over " + stock.getInfo();
  }

  @Override
  public String getConfigName() {
    return getClass().getName();
  }
}

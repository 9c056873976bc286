package org.apache.hadoop.yarn.sls.appmaster;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.PrivilegedExceptionAction;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateRequest;
import org.apache.hadoop.yarn.api.protocolrecords.AllocateResponse;
import org.apache.hadoop.yarn.api.records.Container;
import org.apache.hadoop.yarn.api.records.ExecutionType;
import org.apache.hadoop.yarn.api.records.ReservationId;
import org.apache.hadoop.yarn.api.records.Resource;
import org.apache.hadoop.yarn.api.records.ResourceRequest;
import org.apache.hadoop.yarn.server.resourcemanager.rmnode.RMNode;
import org.apache.hadoop.yarn.sls.SLSRunner;
import org.apache.hadoop.yarn.sls.scheduler.SLSCapacityScheduler;

/**
 * The real Capacity scheduler under a steady load, with SLS's simulated nodes: so many requests wait all the time, and what
 * node updates take of their thread's time is written down each second. Ends when it is killed.
 *
 * <p>BridgeLoad TRACE NODES FOLDER REQUESTS CONTAINERS TASK_MS NEW_EVERY_MS: requests of each application, containers that
 * each of them asks for, how long these live, and how often the first application asks for something new (0: never).
 */
public final class BridgeLoad {
  static final int PRIORITY = 5;
  static final int SIZES = 10;
  private static final long WRITE_EVERY_MS = 500;
  private static final LongAdder UPDATES = new LongAdder(), CPU_NS = new LongAdder(), WALL_NS = new LongAdder();
  private static final LongAdder GIVEN = new LongAdder();
  private static int requests, containers;
  private static long taskMs, newEveryMs;

  private BridgeLoad() {}

  public static void main(String[] arguments) throws Exception {
    Thread.setDefaultUncaughtExceptionHandler((thread, error) -> {
      error.printStackTrace();
      Runtime.getRuntime().halt(1);
    });
    Path folder = Path.of(arguments[2]);
    requests = Integer.parseInt(arguments[3]);
    containers = Integer.parseInt(arguments[4]);
    taskMs = Long.parseLong(arguments[5]);
    newEveryMs = Long.parseLong(arguments[6]);
    Configuration conf = new Configuration();
    SLSRunner simulator = new SLSRunner(conf);
    new SchedulerLoad.TracedJobs(simulator, Path.of(arguments[0])).takeOver();
    simulator.setSimulationParams(SLSRunner.TraceType.SLS, new String[0], arguments[1], folder.toString(),
        Collections.emptySet(), false);
    simulator.start();
    for (;;) {
      Thread.sleep(WRITE_EVERY_MS);
      Path fresh = folder.resolve("updates.new");
      Files.writeString(fresh, UPDATES + " " + CPU_NS + " " + WALL_NS + " " + GIVEN + "\n");
      Files.move(fresh, folder.resolve("updates"), StandardCopyOption.ATOMIC_MOVE);
    }
  }

  /** The Capacity scheduler as it is, which looks at the clock before and after each node update. */
  public static final class TimedScheduler extends SLSCapacityScheduler {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Override
    protected void nodeUpdate(RMNode node) {
      long cpu = THREADS.getCurrentThreadCpuTime();
      long wall = System.nanoTime();
      super.nodeUpdate(node);
      WALL_NS.add(System.nanoTime() - wall);
      CPU_NS.add(THREADS.getCurrentThreadCpuTime() - cpu);
      UPDATES.increment();
    }
  }

  /** A job that always waits for so many requests, each of one of ten sizes. */
  public static final class AskingJob extends AMSimulator {
    private static final AtomicInteger JOBS = new AtomicInteger(), RUNNING = new AtomicInteger();
    private final boolean first = JOBS.getAndIncrement() == 0;
    private final Set<Long> served = new TreeSet<>(); // to be asked for anew
    private boolean asked;
    private long lastNew, newAtMs;

    @Override
    public synchronized void notifyAMContainerLaunched(Container own) throws Exception {
      super.notifyAMContainerLaunched(own);
      RUNNING.incrementAndGet();
    }

    @Override
    protected void processResponseQueue() {
      for (AllocateResponse response = responseQueue.poll(); response != null; response = responseQueue.poll()) {
        for (Container container : response.getAllocatedContainers()) {
          GIVEN.increment();
          if (container.getAllocationRequestId() <= requests) {
            served.add(container.getAllocationRequestId());
          }
          long spread = Math.floorMod(container.getId().getContainerId() * 7919, taskMs);
          se.getNmMap().get(container.getNodeId()).addNewContainer(container, taskMs / 2 + spread, appId);
        }
      }
    }

    @Override
    protected void sendContainerRequest() throws Exception {
      if (RUNNING.get() < JOBS.get()) {
        return; // or those that began first would leave no room for the others' AMs
      }
      List<ResourceRequest> asks = new ArrayList<>();
      for (long id = 1; !asked && id <= requests; id++) {
        asks.add(ask(id, containers));
      }
      for (long id : served) {
        asks.add(ask(id, containers));
      }
      long now = System.currentTimeMillis();
      if (first && newEveryMs > 0 && now >= newAtMs) {
        newAtMs = now + newEveryMs;
        asks.add(ask(requests + ++lastNew, 1));
      }
      asked = true;
      served.clear();
      AllocateRequest request = createAllocateRequest(asks);
      UserGroupInformation user = UserGroupInformation.createRemoteUser(appAttemptId.toString());
      user.addTokenIdentifier(rm.getRMContext().getRMApps().get(appId).getRMAppAttempt(appAttemptId).getAMRMToken()
          .decodeIdentifier());
      responseQueue.put(user.doAs((PrivilegedExceptionAction<AllocateResponse>) () ->
          rm.getApplicationMasterService().allocate(request)));
    }

    private ResourceRequest ask(long id, int count) {
      int size = (int) (id % SIZES);
      Resource resource = Resource.newInstance(1024 + 256 * size, 1 + size % 3);
      return createResourceRequest(resource, ExecutionType.GUARANTEED, ResourceRequest.ANY, PRIORITY, id, count);
    }

    @Override
    public void initReservation(ReservationId reservation, long deadline, long now) {}

    @Override
    protected void checkStop() {}
  }
}

package heddle.bridge;

import java.io.DataInputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.security.GeneralSecurityException;
import java.util.ArrayDeque;
import java.util.concurrent.Semaphore;
import javax.management.JMException;
import javax.management.ObjectName;
import javax.servlet.Filter;
import javax.servlet.FilterChain;
import javax.servlet.FilterConfig;
import javax.servlet.ServletException;
import javax.servlet.ServletRequest;
import javax.servlet.ServletResponse;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.security.authorize.AccessControlList;

/**
 * The endpoint. GET: how it stands; /requests: those that came after a number, as soon as there is one; /allocations. PUT: a
 * table; DELETE: none; POST /on: the bridge again, after it has turned itself off.
 */
public final class BridgeFilter implements Filter {
  static final String PATH = "/ws/v1/heddle/bridge";
  private static final String STANDBY = "This is standby RM"; // as the ResourceManager itself says
  private static final String SIGNATURE = "X-Heddle-Signature";
  private static final long LONGEST_POLL_MS = 20_000;
  private static final int MOST_PUTS = 5; // a second
  private static final Semaphore POLLS = new Semaphore(2);
  private static final ArrayDeque<Long> PUTS = new ArrayDeque<>();
  private AccessControlList admins;
  private boolean needsSecret;
  private String secretFile;

  /** An answer other than 200. */
  private static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;
    final int status;

    Refused(int status, String why) {
      super(why);
      this.status = status;
    }
  }

  @Override
  public void init(FilterConfig settings) {
    admins = new AccessControlList(settings.getInitParameter("admins"));
    needsSecret = !"false".equals(settings.getInitParameter("needs-secret"));
    secretFile = settings.getInitParameter("secret-file");
  }

  @Override
  public void doFilter(ServletRequest asked, ServletResponse answer, FilterChain others)
      throws IOException, ServletException {
    HttpServletRequest request = (HttpServletRequest) asked;
    HttpServletResponse response = (HttpServletResponse) answer;
    String path = request.getRequestURI();
    if (!path.equals(PATH) && !path.startsWith(PATH + "/")) {
      others.doFilter(asked, answer);
      return;
    }
    int status = HttpServletResponse.SC_OK;
    String text;
    try {
      text = answer(request, path.substring(PATH.length()));
    } catch (Refused refused) {
      status = refused.status;
      text = refused.getMessage() + "\n";
    } catch (Throwable problem) {
      Bridge.COUNTERS.errors.increment();
      Bridge.COUNTERS.lastError = problem.toString();
      status = HttpServletResponse.SC_INTERNAL_SERVER_ERROR;
      text = problem + "\n";
    }
    response.setStatus(status);
    response.setContentType((status == HttpServletResponse.SC_OK ? "application/json" : "text/plain") + "; charset=utf-8");
    response.setHeader("Cache-Control", "no-store");
    response.getWriter().write(text);
  }

  private String answer(HttpServletRequest request, String what)
      throws Refused, IOException, GeneralSecurityException, InterruptedException {
    refuseUnlessAdmin(request);
    String asked = request.getMethod() + " " + what;
    boolean active = isActive();
    if (asked.equals("GET ") && (active || request.getParameter("standby") != null)) { // to see the jar there
      return Answers.state(active, request.getRemoteUser(), needsSecret);
    }
    if (!active) {
      Bridge.drop();
      throw new Refused(HttpServletResponse.SC_SERVICE_UNAVAILABLE, STANDBY);
    }
    switch (asked) {
      case "GET /requests":
        return requests(request);
      case "GET /allocations":
        return Answers.allocations(number(request, "after"));
      case "PUT ":
        return put(request);
      case "DELETE ":
        accepted(request, what, new byte[0]);
        Bridge.drop();
        return Answers.done();
      case "POST /on":
        accepted(request, what, new byte[0]);
        Bridge.BREAKER.turnOn();
        return Answers.done();
      default:
        throw new Refused(HttpServletResponse.SC_NOT_FOUND, "there is no " + asked);
    }
  }

  private void refuseUnlessAdmin(HttpServletRequest request) throws Refused {
    String user = request.getRemoteUser();
    if (!admins.isAllAllowed()
        && (user == null || !admins.isUserAllowed(UserGroupInformation.createRemoteUser(user)))) {
      throw new Refused(HttpServletResponse.SC_FORBIDDEN, user + " is not in yarn.admin.acl");
    }
  }

  private String requests(HttpServletRequest request) throws Refused, InterruptedException {
    if (!POLLS.tryAcquire()) {
      throw new Refused(429, "two are waiting for requests already");
    }
    try {
      return Answers.requests(number(request, "after"), Math.min(LONGEST_POLL_MS, number(request, "wait_ms")));
    } finally {
      POLLS.release();
    }
  }

  private String put(HttpServletRequest request) throws Refused, IOException, GeneralSecurityException {
    int length = request.getContentLength();
    if (length < 0) {
      throw new Refused(HttpServletResponse.SC_LENGTH_REQUIRED, "say how long the table is");
    }
    if (length > TableReader.MOST_BYTES) {
      throw new Refused(HttpServletResponse.SC_REQUEST_ENTITY_TOO_LARGE,
          "a table has at most " + TableReader.MOST_BYTES + " bytes");
    }
    refuseUnsigned(request);
    byte[] body = new byte[length];
    new DataInputStream(request.getInputStream()).readFully(body);
    long version = accepted(request, "", body);
    refuseTooMany(); // only now: who cannot sign cannot use up what others may send
    try {
      Table table = TableReader.read(body);
      if (table.version != version) {
        throw new TableRefused("its version is not the one that was signed");
      }
      Bridge.accept(table);
    } catch (TableRefused refused) {
      Bridge.COUNTERS.refused.increment();
      throw new Refused(HttpServletResponse.SC_BAD_REQUEST, refused.getMessage());
    }
    return Answers.done();
  }

  private static void refuseTooMany() throws Refused {
    long now = System.nanoTime();
    synchronized (PUTS) {
      while (!PUTS.isEmpty() && now - PUTS.peekFirst() > 1_000_000_000L) {
        PUTS.removeFirst();
      }
      if (PUTS.size() >= MOST_PUTS) {
        throw new Refused(429, "more than " + MOST_PUTS + " tables a second");
      }
      PUTS.addLast(now);
    }
  }

  /** The version with which something is changed, if that is new and signed as it must be. */
  private long accepted(HttpServletRequest request, String what, byte[] body)
      throws Refused, IOException, GeneralSecurityException {
    long version = header(request, "X-Heddle-Version");
    refuseUnsigned(request);
    String whyNot = needsSecret ? whyNot(request, what, body, version) : "";
    if (!whyNot.isEmpty()) {
      Bridge.COUNTERS.refused.increment();
      throw new Refused(HttpServletResponse.SC_FORBIDDEN, whyNot);
    }
    if (!Bridge.isNew(version)) {
      Bridge.COUNTERS.refused.increment();
      throw new Refused(HttpServletResponse.SC_CONFLICT,
          "version " + version + " is not above the last one, " + Bridge.lastVersion());
    }
    return version;
  }

  private void refuseUnsigned(HttpServletRequest request) throws Refused {
    if (needsSecret && request.getHeader(SIGNATURE) == null) {
      Bridge.COUNTERS.refused.increment();
      throw new Refused(HttpServletResponse.SC_FORBIDDEN, "it is not signed");
    }
  }

  private String whyNot(HttpServletRequest request, String what, byte[] body, long version)
      throws Refused, IOException, GeneralSecurityException {
    long timeMs = header(request, "X-Heddle-Time");
    String said = request.getMethod() + " " + PATH + what + "\n" + Bridge.INSTANCE + "\n" + version + "\n" + timeMs + "\n";
    return Secret.whyNot(secretFile, said, body, timeMs, request.getHeader(SIGNATURE));
  }

  private static long header(HttpServletRequest request, String name) throws Refused {
    return parsed(request.getHeader(name), name);
  }

  private static long number(HttpServletRequest request, String name) throws Refused {
    String text = request.getParameter(name);
    return text == null ? 0 : parsed(text, name);
  }

  private static long parsed(String text, String name) throws Refused {
    try {
      return Math.max(0, Long.parseLong(text));
    } catch (NumberFormatException problem) {
      throw new Refused(HttpServletResponse.SC_BAD_REQUEST, name + " must be a number");
    }
  }

  /** By what the ResourceManager tells its monitors: no other way to it leads from here. */
  private static boolean isActive() {
    try {
      Object state = ManagementFactory.getPlatformMBeanServer()
          .getAttribute(new ObjectName("Hadoop:service=ResourceManager,name=RMInfo"), "State");
      return "active".equalsIgnoreCase(String.valueOf(state));
    } catch (JMException unknown) {
      return false;
    }
  }

  @Override
  public void destroy() {}
}

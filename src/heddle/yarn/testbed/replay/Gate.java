import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Where containers of early stages wait for their maps: each connects, says the number of its stage, and is answered
 * with a line when the stage may begin. When the AM is gone its connections break, and what waits ends.
 */
final class Gate implements AutoCloseable {
  private static final int SAYS_WITHIN_MS = 10_000;

  private final ServerSocket server;
  private final Map<Integer, List<Socket>> waiting = new HashMap<>();
  private final Set<Integer> open = new HashSet<>();

  Gate(InetAddress address) throws IOException {
    server = new ServerSocket(0, 200, address);
    Thread thread = new Thread(this::accept, "gate");
    thread.setDaemon(true);
    thread.start();
  }

  /** What a task of the stage is told. */
  String address(int stage) {
    return server.getInetAddress().getHostAddress() + ":" + server.getLocalPort() + "/" + stage;
  }

  synchronized void open(int stage) {
    if (open.add(stage)) {
      for (Socket task : waiting.getOrDefault(stage, List.of())) {
        answer(task);
      }
      waiting.remove(stage);
    }
  }

  private void accept() {
    while (!server.isClosed()) {
      try {
        Socket task = server.accept();
        task.setSoTimeout(SAYS_WITHIN_MS);
        BufferedReader reader = new BufferedReader(new InputStreamReader(task.getInputStream(), StandardCharsets.UTF_8));
        int stage = Integer.parseInt(String.valueOf(reader.readLine()));
        synchronized (this) {
          if (open.contains(stage)) {
            answer(task);
          } else {
            waiting.computeIfAbsent(stage, none -> new ArrayList<>()).add(task);
          }
        }
      } catch (IOException | NumberFormatException problem) { // somebody who did not mean us, or the end
        System.err.println("gate: " + problem);
      }
    }
  }

  private static void answer(Socket task) {
    try (task) {
      task.getOutputStream().write('\n');
    } catch (IOException problem) { // that container is gone: the ResourceManager tells
      System.err.println("gate: " + problem);
    }
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}

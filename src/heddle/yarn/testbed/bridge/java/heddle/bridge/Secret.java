package heddle.bridge;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.EnumSet;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The secret by which a process outside proves that it may decide, and what it signs with it. */
final class Secret {
  static final long CLOCKS_DIFFER_MS = 60_000; // at most
  private static final String HMAC = "HmacSHA256";
  private static final int SHORTEST = 32; // characters
  private static final Set<PosixFilePermission> OWNER_ALONE =
      EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

  private Secret() {}

  /** Why this is not signed as it must be; empty: it is. `file`: "" where nobody has set one. */
  static String whyNot(String file, String said, byte[] body, long timeMs, String signature)
      throws IOException, GeneralSecurityException {
    if (file.isEmpty()) {
      return "heddle.bridge.secret-file is not set";
    }
    Path path = Paths.get(file);
    if (!OWNER_ALONE.containsAll(Files.getPosixFilePermissions(path))) {
      return "the file with the secret may be readable by the ResourceManager's user alone (mode 600)";
    }
    String secret = new String(Files.readAllBytes(path), StandardCharsets.UTF_8).trim();
    if (secret.length() < SHORTEST) {
      return "the secret has fewer than " + SHORTEST + " characters";
    }
    if (Math.abs(System.currentTimeMillis() - timeMs) > CLOCKS_DIFFER_MS) {
      return "its time is more than a minute from the ResourceManager's";
    }
    Mac mac = Mac.getInstance(HMAC);
    mac.init(new SecretKeySpec(secret.getBytes(StandardCharsets.UTF_8), HMAC));
    mac.update(said.getBytes(StandardCharsets.UTF_8));
    mac.update(body);
    StringBuilder wanted = new StringBuilder();
    for (byte one : mac.doFinal()) {
      wanted.append(String.format("%02x", one));
    }
    boolean same = MessageDigest.isEqual(
        wanted.toString().getBytes(StandardCharsets.UTF_8), signature.getBytes(StandardCharsets.UTF_8));
    return same ? "" : "the signature is wrong";
  }
}

package heddle.bridge;

import java.util.HashMap;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.http.FilterContainer;
import org.apache.hadoop.http.FilterInitializer;
import org.apache.hadoop.security.UserGroupInformation;

/**
 * Puts BridgeFilter on the ResourceManager's own web port. Not as a global filter: those run before the others, and the
 * authentication must come first. So its path lies below /ws, which the ResourceManager has authenticated.
 */
public final class BridgeEndpoint extends FilterInitializer {
  static final String SECRET_FILE = "heddle.bridge.secret-file";

  @Override
  public void initFilter(FilterContainer container, Configuration configuration) {
    Map<String, String> settings = new HashMap<>();
    String admins = configuration.get("yarn.admin.acl", "*");
    boolean kerberos = UserGroupInformation.isSecurityEnabled()
        && "kerberos".equals(configuration.get("hadoop.http.authentication.type", "simple"));
    settings.put("admins", admins);
    settings.put("needs-secret", String.valueOf(!kerberos || admins.trim().equals("*")));
    settings.put("secret-file", configuration.getTrimmed(SECRET_FILE, ""));
    container.addFilter("heddle-bridge", BridgeFilter.class.getName(), settings);
  }
}

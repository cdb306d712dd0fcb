package stoa.peers;

import java.nio.file.Path;
import java.util.List;
import org.infinispan.commons.dataconversion.MediaType;
import org.infinispan.configuration.cache.CacheMode;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.counter.configuration.CounterManagerConfigurationBuilder;
import org.infinispan.counter.configuration.Reliability;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.server.hotrod.HotRodServer;
import org.infinispan.server.hotrod.configuration.HotRodServerConfigurationBuilder;

/// One of several Infinispan servers on the loopback device that keep two copies of everything, in
/// memory or also on disk, in a process of its own. They find each other by files in a folder.
final class InfinispanNode {
  /// The text before its port on its output.
  static final String LISTENING = "listening on port ";

  /// The cache of records, and of nothing else.
  static final String RECORDS = "records";

  /// The cache of counters on disk.
  static final String COUNTERS = "counters";

  /// The argument that has each server force its changes to its disk.
  static final String ON_DISK = "disk";

  /// The argument for no disk.
  static final String IN_MEMORY = "memory";

  /// The number of servers with each entry, before a change is answered.
  static final int OWNERS = 2;

  private InfinispanNode() {}

  /// Runs until the process is ended: the folder by which the members find each other, one for
  /// data, and [#ON_DISK] or [#IN_MEMORY].
  public static void main(String[] arguments) throws Exception {
    System.setProperty("stoa.bench.members", arguments[0]);
    Path folder = Path.of(arguments[1]);
    var global = GlobalConfigurationBuilder.defaultClusteredBuilder();
    global.transport().addProperty("configurationFile", "jgroups-loopback.xml");
    global
        .globalState()
        .enable()
        .persistentLocation(folder.resolve("state").toString())
        .temporaryLocation(folder.resolve("temporary").toString());
    global
        .addModule(CounterManagerConfigurationBuilder.class)
        .numOwner(OWNERS)
        .reliability(Reliability.CONSISTENT);
    var caches = new DefaultCacheManager(global.build());
    for (String name : List.of(RECORDS, COUNTERS)) {
      var values = new ConfigurationBuilder();
      values.clustering().cacheMode(CacheMode.DIST_SYNC).hash().numOwners(OWNERS);
      values.encoding().mediaType(MediaType.APPLICATION_OCTET_STREAM);
      if (arguments[2].equals(ON_DISK)) {
        values.persistence().addSoftIndexFileStore().syncWrites(true);
      }
      caches.defineConfiguration(name, values.build());
      caches.getCache(name);
    }
    int port = FreePorts.one(); // clients learn it from the server
    var server = new HotRodServer();
    server.start(
        new HotRodServerConfigurationBuilder()
            .host("127.0.0.1")
            .port(port)
            .defaultCacheName(RECORDS)
            .build(),
        caches);
    server.postStart();
    System.out.println(LISTENING + port);
  }
}

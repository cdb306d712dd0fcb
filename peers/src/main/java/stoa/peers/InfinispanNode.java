package stoa.peers;

import java.nio.file.Path;
import org.infinispan.configuration.cache.CacheMode;
import org.infinispan.configuration.cache.ConfigurationBuilder;
import org.infinispan.configuration.global.GlobalConfigurationBuilder;
import org.infinispan.counter.configuration.CounterManagerConfigurationBuilder;
import org.infinispan.counter.configuration.Reliability;
import org.infinispan.manager.DefaultCacheManager;
import org.infinispan.server.hotrod.HotRodServer;
import org.infinispan.server.hotrod.configuration.HotRodServerConfigurationBuilder;
import stoa.bench.remote.RemoteContender.Persistence;

/// One of several Infinispan servers on the loopback device that keep two copies of everything, in
/// memory or also on disk, in a process of its own. They find each other by files in a folder.
final class InfinispanNode {
  // The number of servers with each entry, before a change is answered.
  private static final int OWNERS = 2;

  private InfinispanNode() {}

  /// Runs until the process is ended: a [Persistence], the folder for data, and the folder by which
  /// the members find each other.
  public static void main(String[] arguments) throws Exception {
    System.setProperty("stoa.bench.members", arguments[2]);
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
    InfinispanServer.define(caches, Persistence.valueOf(arguments[0]), InfinispanNode::replicated);
    int port = FreePorts.one(); // clients learn it from the server
    var server = new HotRodServer();
    server.start(
        new HotRodServerConfigurationBuilder()
            .host("127.0.0.1")
            .port(port)
            .defaultCacheName(InfinispanServer.VALUES)
            .build(),
        caches);
    server.postStart();
    System.out.println(InfinispanServer.LISTENING + port);
  }

  private static ConfigurationBuilder replicated() {
    var configuration = new ConfigurationBuilder();
    configuration.clustering().cacheMode(CacheMode.DIST_SYNC).hash().numOwners(OWNERS);
    return configuration;
  }
}

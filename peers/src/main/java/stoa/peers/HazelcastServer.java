package stoa.peers;

import com.hazelcast.config.Config;
import com.hazelcast.config.InMemoryFormat;
import com.hazelcast.core.Hazelcast;

/// A Hazelcast member, alone and on the loopback device, in a process of its own.
final class HazelcastServer {
  /// The text before its address on its output.
  static final String LISTENING = "listening on ";

  private HazelcastServer() {}

  /// Runs until the process is ended.
  public static void main(String[] arguments) {
    var config = new Config();
    config.setProperty("hazelcast.logging.type", "slf4j");
    config.setProperty("hazelcast.phone.home.enabled", "false");
    config.setProperty("hazelcast.socket.bind.any", "false");
    config.getJetConfig().setEnabled(false);
    config
        .getSerializationConfig()
        .addDataSerializableFactory(Increment.FACTORY, Increment.factory());
    var network = config.getNetworkConfig().setPort(45_701).setPortCount(1_000);
    network.getInterfaces().setEnabled(true).addInterface("127.0.0.1");
    network.getJoin().getAutoDetectionConfig().setEnabled(false);
    network.getJoin().getMulticastConfig().setEnabled(false);
    // As Hazelcast advises for maps whose entries are processed where they lie.
    config.getMapConfig("counters").setInMemoryFormat(InMemoryFormat.OBJECT);
    // By default, it has 100 timers.
    config.getScheduledExecutorConfig(Ring.TIMERS).setCapacity(0);
    var address = Hazelcast.newHazelcastInstance(config).getCluster().getLocalMember().getAddress();
    System.out.println(LISTENING + "127.0.0.1:" + address.getPort());
  }
}

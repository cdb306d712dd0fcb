package stoa.peers;

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.grpc.GrpcConfigKeys;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.statemachine.TransactionContext;
import org.apache.ratis.statemachine.impl.BaseStateMachine;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/// One of several Raft servers, in a process of its own, whose state machine counts and does
/// nothing else; with the settings that Stoa had when its servers agreed by it.
final class RatisNode {
  /// The text on its output when it runs.
  static final String READY = "ready";

  // The counters of each kind of increment in turn.
  private static final int COUNTERS = 200;

  private static final String LOG = "org.slf4j.simpleLogger.log.org.apache.ratis";

  private RatisNode() {}

  /// Silences what Ratis logs of each server that starts or ends. Call it before the first class of
  /// Ratis.
  static void silence() {
    System.setProperty(LOG, "off");
  }

  /// Runs until the process is ended: which member it is, its folder, and the ports of all.
  public static void main(String[] arguments) throws Exception {
    silence();
    int own = Integer.parseInt(arguments[0]);
    var ports = new ArrayList<Integer>();
    for (int i = 2; i < arguments.length; i++) ports.add(Integer.valueOf(arguments[i]));
    RaftGroup group = group(ports);
    var server =
        RaftServer.newBuilder()
            .setServerId(id(own))
            .setGroup(group)
            .setProperties(properties(Path.of(arguments[1]), ports.get(own)))
            .setStateMachine(new Counting())
            .build();
    server.start();
    System.out.println(READY);
    Thread.currentThread().join();
  }

  private static org.apache.ratis.protocol.RaftPeerId id(int member) {
    return org.apache.ratis.protocol.RaftPeerId.valueOf("n" + member);
  }

  /// The group of servers at some ports.
  static RaftGroup group(List<Integer> ports) {
    var peers = new ArrayList<RaftPeer>();
    for (int i = 0; i < ports.size(); i++) {
      peers.add(RaftPeer.newBuilder().setId(id(i)).setAddress("127.0.0.1:" + ports.get(i)).build());
    }
    return RaftGroup.valueOf(RaftGroupId.valueOf(new UUID(1, 1)), peers);
  }

  private static RaftProperties properties(Path folder, int port) throws Exception {
    var properties = new RaftProperties();
    RaftServerConfigKeys.setStorageDir(
        properties, List.of(Files.createDirectories(folder).toFile()));
    RaftConfigKeys.Rpc.setType(properties, SupportedRpcType.GRPC);
    GrpcConfigKeys.Server.setHost(properties, "127.0.0.1");
    GrpcConfigKeys.Server.setPort(properties, port);
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(600));
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(2_000));
    RaftServerConfigKeys.Log.Appender.setBufferByteLimit(properties, SizeInBytes.valueOf("4MB"));
    RaftServerConfigKeys.Log.setWriteBufferSize(properties, SizeInBytes.valueOf("5MB"));
    RaftServerConfigKeys.Log.setPreallocatedSize(properties, SizeInBytes.valueOf("64KB"));
    RaftServerConfigKeys.Log.setLogMetadataEnabled(properties, false);
    RaftServerConfigKeys.Read.setLeaderLeaseEnabled(properties, true);
    RaftServerConfigKeys.Read.setOption(properties, RaftServerConfigKeys.Read.Option.LINEARIZABLE);
    return properties;
  }

  private static TimeDuration millis(long millis) {
    return TimeDuration.valueOf(millis, TimeUnit.MILLISECONDS);
  }

  /// The numbers of counters in a message.
  static Message message(List<Integer> counters) {
    var bytes = ByteBuffer.allocate(Integer.BYTES * counters.size());
    counters.forEach(bytes::putInt);
    return Message.valueOf(ByteString.copyFrom(bytes.flip()));
  }

  /// Adds one to each counter in an entry, and returns their values; a query only returns them.
  private static final class Counting extends BaseStateMachine {
    private final AtomicLongArray counters = new AtomicLongArray(COUNTERS);

    @Override
    public CompletableFuture<Message> applyTransaction(TransactionContext transaction) {
      var entry = transaction.getLogEntry();
      ByteBuffer named = entry.getStateMachineLogEntry().getLogData().asReadOnlyByteBuffer();
      var answers = ByteBuffer.allocate(Long.BYTES * (named.remaining() / Integer.BYTES));
      while (named.hasRemaining()) answers.putLong(counters.incrementAndGet(named.getInt()));
      updateLastAppliedTermIndex(entry.getTerm(), entry.getIndex());
      return CompletableFuture.completedFuture(
          Message.valueOf(ByteString.copyFrom(answers.flip())));
    }

    @Override
    public CompletableFuture<Message> query(Message request) {
      var value = ByteBuffer.allocate(Long.BYTES);
      value.putLong(counters.get(request.getContent().asReadOnlyByteBuffer().getInt()));
      return CompletableFuture.completedFuture(Message.valueOf(ByteString.copyFrom(value.flip())));
    }
  }
}

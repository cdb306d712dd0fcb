package stoa.wire;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.ClientFrame;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.RetainRequest;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.VersionsRequest;
import stoa.wire.proto.WhereRequest;

/// The methods of a server: what the streams of clients are for. The door refuses every other one.
public enum Rpc {
  /// The connection of a client.
  CONVERSE("stoa.Store/Converse", ClientFrame.parser()),
  /// The state of the server.
  STATUS("stoa.Store/Status", StatusRequest.parser()),
  /// Takes back a call.
  CANCEL("stoa.Store/Cancel", CancelRequest.parser()),
  /// Names the server that has a group.
  WHERE("stoa.Store/Where", WhereRequest.parser()),
  /// Begins a proof of the servers' secret.
  CHALLENGE("stoa.Store/Challenge", ChallengeRequest.parser()),
  /// Adds a server.
  JOIN("stoa.Store/Join", JoinRequest.parser()),
  /// Removes a server.
  DRAIN("stoa.Store/Drain", DrainRequest.parser()),
  /// Changes the number of replicas.
  REPLICATE("stoa.Store/Replicate", ReplicateRequest.parser()),
  /// Ends a quarantine.
  ACCEPT("stoa.Store/Accept", AcceptRequest.parser()),
  /// Lists the versions of code.
  VERSIONS("stoa.Store/Versions", VersionsRequest.parser()),
  /// Reads a version of code.
  CLASS_FILES("stoa.Store/ClassFiles", ClassFilesRequest.parser()),
  /// Tries or deploys code.
  DEPLOY("stoa.Store/Deploy", DeployPart.parser()),
  /// Looks into the store.
  LOOK("stoa.Store/Look", LookRequest.parser()),
  /// Reads or changes how much of the past stays.
  RETAIN("stoa.Store/Retain", RetainRequest.parser()),
  /// Begins a backup.
  BACK_UP("stoa.Store/BackUp", BackUpRequest.parser()),
  /// Copies a segment for a backup.
  READ_SEGMENT("stoa.Store/ReadSegment", ReadSegmentRequest.parser()),
  /// A stream of the tree of client-placed objects.
  TREE("stoa.Tree/Migrate", null);

  private static final Map<String, Rpc> BY_NAME =
      Arrays.stream(values()).collect(Collectors.toUnmodifiableMap(Rpc::path, Function.identity()));

  private final String path;

  // Null for bytes that are no message.
  private final @Nullable Parser<? extends Message> messages;

  Rpc(String path, @Nullable Parser<? extends Message> messages) {
    this.path = path;
    this.messages = messages;
  }

  /// Returns the name of the method, as the client of a stream says it.
  public String path() {
    return path;
  }

  /// Returns the method of a name; null when there is none.
  public static @Nullable Rpc of(String path) {
    return BY_NAME.get(path);
  }

  /// Reads a message of a client.
  ///
  /// @throws InvalidProtocolBufferException when it is none
  public Message read(byte[] message) throws InvalidProtocolBufferException {
    if (messages == null) throw new IllegalStateException(path + " has no messages");
    return messages.parseFrom(message);
  }
}

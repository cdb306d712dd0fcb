package stoa.node;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Caller;

/// A call of a client whose end goes to the audit log, if it is a command of an operator. gRPC
/// calls it from one thread at a time.
final class Noted<Q, A> extends SimpleForwardingServerCall<Q, A> {
  private final Caller caller;
  private final String address;
  private final Audit audit;
  private volatile @Nullable String command;
  private volatile int group;
  private volatile String outcome = AuditEntry.DONE;

  Noted(ServerCall<Q, A> call, Caller caller, String address, Audit audit) {
    super(call);
    this.caller = caller;
    this.address = address;
    this.audit = audit;
  }

  /// Notes the first message.
  void note(Rpc rpc, Q message) {
    command = Commands.command(rpc, message);
    group = Commands.group(message);
    if (command != null) audit.begins(caller, address, command);
  }

  @Override
  public void sendMessage(A reply) {
    if (command != null) outcome = Commands.outcome(reply);
    super.sendMessage(reply);
  }

  @Override
  public void close(Status status, Metadata trailers) {
    String said = command;
    command = null;
    if (said != null) {
      String ended = status.isOk() ? outcome : String.valueOf(status.getDescription());
      audit.ends(group, caller, address, said, ended);
    }
    super.close(status, trailers);
  }
}

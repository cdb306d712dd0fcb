package stoa.node;

import com.google.protobuf.Message;
import org.jspecify.annotations.Nullable;
import stoa.node.access.Caller;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.Rpc;

/// The answers to a question of a client. Their end goes to the audit log, if the question is a
/// command of an operator. One thread at a time uses it.
final class AuditedAnswer {
  private final Stream stream;
  private final Caller caller;
  private final String address;
  private final Audit audit;
  private volatile @Nullable String command;
  private volatile int group;
  private volatile String outcome = AuditEntry.DONE;

  AuditedAnswer(Stream stream, Caller caller, String address, Audit audit) {
    this.stream = stream;
    this.caller = caller;
    this.address = address;
    this.audit = audit;
  }

  /// Notes the first message.
  void note(Rpc rpc, Message message) {
    command = Commands.command(rpc, message);
    group = Commands.group(message);
    if (command != null) audit.begins(caller, address, command);
  }

  /// Sends an answer.
  void send(Message reply) {
    if (command != null) outcome = Commands.outcome(reply);
    stream.send(reply.toByteArray());
  }

  /// Sends the last answer. This notes the outcome before: the client may ask the next question as
  /// soon as it has the answer.
  void answer(Message reply) {
    if (command != null) outcome = Commands.outcome(reply);
    note(Status.OK);
    stream.send(reply.toByteArray());
    stream.end(Status.OK);
  }

  /// Ends it, with a reason in place of an answer.
  void refuse(Status.Code code, String reason) {
    end(Status.of(code, reason));
  }

  /// Ends it, behind the answers.
  void end(Status status) {
    note(status);
    stream.end(status);
  }

  private void note(Status end) {
    String said = command;
    command = null;
    if (said == null) return;
    String ended = end.isOk() ? outcome : String.valueOf(end.description());
    audit.ends(group, caller, address, said, ended);
  }

  /// Returns whether the client has gone.
  boolean isOver() {
    return stream.isOver();
  }
}

package stoa.wire;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import stoa.ConnectionSecurity;
import stoa.transport.Address;
import stoa.transport.Channel;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.wire.proto.AcceptReply;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.BackUpReply;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ChallengeReply;
import stoa.wire.proto.ChallengeRequest;
import stoa.wire.proto.ClassFile;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployReply;
import stoa.wire.proto.DeployResult;
import stoa.wire.proto.DrainReply;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinReply;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.ReadSegmentReply;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.ReplicateReply;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.RetainReply;
import stoa.wire.proto.RetainRequest;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.VersionsReply;
import stoa.wire.proto.VersionsRequest;
import stoa.wire.proto.WhereRequest;
import stoa.wire.proto.Whereabouts;

/// Single requests to a server, outside of a session. Each waits for its answer. All throw
/// [StatusException] when the server refuses the question, or no answer comes in time. Immutable.
///
/// @param channel leads to the server
/// @param timeMillis how long each may take
public record SingleRequests(Channel channel, long timeMillis) {
  /// Asks a question over a connection of its own.
  ///
  /// @param timeMillis how long it may take
  public static <T> T ask(
      ConnectionSecurity security,
      Address address,
      long timeMillis,
      Function<SingleRequests, T> question) {
    try (var channels = new Channels(security)) {
      return question.apply(new SingleRequests(channels.to(address), timeMillis));
    }
  }

  /// Asks for the state of the server.
  public StatusReply status(StatusRequest asked) {
    return ask(Rpc.STATUS, asked, StatusReply.parser());
  }

  /// Takes back a call, or ends a session.
  public CancelReply cancel(CancelRequest asked) {
    return ask(Rpc.CANCEL, asked, CancelReply.parser());
  }

  /// Asks which server has a group.
  public Whereabouts where(WhereRequest asked) {
    return ask(Rpc.WHERE, asked, Whereabouts.parser());
  }

  /// Begins a proof of the servers' secret.
  public ChallengeReply challenge(ChallengeRequest asked) {
    return ask(Rpc.CHALLENGE, asked, ChallengeReply.parser());
  }

  /// Adds a server.
  public JoinReply join(JoinRequest asked) {
    return ask(Rpc.JOIN, asked, JoinReply.parser());
  }

  /// Removes a server.
  public DrainReply drain(DrainRequest asked) {
    return ask(Rpc.DRAIN, asked, DrainReply.parser());
  }

  /// Changes the number of replicas.
  public ReplicateReply replicate(ReplicateRequest asked) {
    return ask(Rpc.REPLICATE, asked, ReplicateReply.parser());
  }

  /// Ends a quarantine.
  public AcceptReply accept(AcceptRequest asked) {
    return ask(Rpc.ACCEPT, asked, AcceptReply.parser());
  }

  /// Asks for the versions of code.
  public VersionsReply versions(VersionsRequest asked) {
    return ask(Rpc.VERSIONS, asked, VersionsReply.parser());
  }

  /// Looks into the store.
  public LookReply look(LookRequest asked) {
    return ask(Rpc.LOOK, asked, LookReply.parser());
  }

  /// Reads or changes how much of the past stays.
  public RetainReply retain(RetainRequest asked) {
    return ask(Rpc.RETAIN, asked, RetainReply.parser());
  }

  /// Begins a backup.
  public BackUpReply backUp(BackUpRequest asked) {
    return ask(Rpc.BACK_UP, asked, BackUpReply.parser());
  }

  /// Copies a part of a segment.
  public ReadSegmentReply readSegment(ReadSegmentRequest asked) {
    return ask(Rpc.READ_SEGMENT, asked, ReadSegmentReply.parser());
  }

  /// Reads the class files of a version of code.
  ///
  /// @param files gets each
  public void classFiles(ClassFilesRequest asked, Consumer<ClassFile> files) {
    ask(Rpc.CLASS_FILES, List.of(asked), ClassFile.parser(), files);
  }

  /// Tries or deploys code, or brings it.
  ///
  /// @param first says what to do
  /// @param files the class files
  /// @param tried learns how many objects were tried
  /// @return the result; a refusal when the server ends without one
  public DeployResult deploy(
      DeployPart first, SortedMap<String, byte[]> files, LongConsumer tried) {
    var parts = new ArrayList<DeployPart>();
    parts.add(first);
    for (List<ClassFile> part : ClassTransfer.parts(files)) {
      parts.add(DeployPart.newBuilder().addAllFiles(part).build());
    }
    var result = DeployResult.newBuilder().setRefusal("the server has ended the request");
    ask(
        Rpc.DEPLOY,
        parts,
        DeployReply.parser(),
        reply -> {
          if (reply.hasResult()) result.clear().mergeFrom(reply.getResult());
          else tried.accept(reply.getTried());
        });
    return result.build();
  }

  private <A extends Message> A ask(Rpc rpc, Message asked, Parser<A> answers) {
    return read(rpc, channel.ask(rpc.path(), asked.toByteArray(), timeMillis), answers);
  }

  private static <A extends Message> A read(Rpc rpc, byte[] answer, Parser<A> answers) {
    try {
      return answers.parseFrom(answer);
    } catch (InvalidProtocolBufferException none) {
      throw Status.of(
              Status.Code.INTERNAL,
              "the answer of " + rpc.path() + " cannot be read: " + none.getMessage())
          .exception();
    }
  }

  /// Asks a question of several messages, with several answers.
  private <A extends Message> void ask(
      Rpc rpc, List<? extends Message> parts, Parser<A> answers, Consumer<A> to) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeMillis);
    var heard = new AnswerReceiver();
    Stream stream = channel.open(rpc.path(), heard);
    try {
      stream.request(1);
      for (Message part : parts) stream.send(part.toByteArray());
      stream.finish();
      while (true) {
        Arrival came = heard.came.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
        if (came == null) {
          throw Status.of(
                  Status.Code.DEADLINE_EXCEEDED,
                  channel.address() + " gave no answer within " + timeMillis + " ms")
              .exception();
        }
        if (came.over != null) {
          if (came.over.isOk()) return;
          throw came.over.exception();
        }
        to.accept(read(rpc, came.message, answers));
        stream.request(1);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw Status.of(Status.Code.CANCELLED, "interrupted").exception();
    } finally {
      stream.cancel(Status.of(Status.Code.CANCELLED, "nobody waits for an answer any more"));
    }
  }

  /// An answer, or the end.
  private record Arrival(byte[] message, @Nullable Status over) {}

  /// Keeps what the server says: one message, since no more is asked for, and the end.
  private static final class AnswerReceiver implements Receiver {
    private final BlockingQueue<Arrival> came = new LinkedBlockingQueue<>();

    @Override
    public void message(byte[] message) {
      came.add(new Arrival(message, null));
    }

    @Override
    public void over(Status status) {
      came.add(new Arrival(new byte[0], status));
    }
  }
}

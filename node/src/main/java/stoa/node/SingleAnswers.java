package stoa.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.base.Repeats;
import stoa.base.Secret;
import stoa.links.TreeMember;
import stoa.links.TreeServer;
import stoa.objects.ListenerCounts;
import stoa.objects.ObjectCall;
import stoa.objects.ObjectService;
import stoa.objects.OperatorService;
import stoa.objects.RetentionService;
import stoa.objects.TimerCounts;
import stoa.storage.DeviceStats;
import stoa.store.replicas.Divergence;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.Proofs;
import stoa.wire.Rpc;
import stoa.wire.SlotMap;
import stoa.wire.proto.AcceptReply;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.BackUpRequest;
import stoa.wire.proto.CallStatus;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;
import stoa.wire.proto.ChallengeReply;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.DrainReply;
import stoa.wire.proto.DrainRequest;
import stoa.wire.proto.JoinReply;
import stoa.wire.proto.JoinRequest;
import stoa.wire.proto.ListenerStatus;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;
import stoa.wire.proto.QuarantineStatus;
import stoa.wire.proto.ReadSegmentRequest;
import stoa.wire.proto.Release;
import stoa.wire.proto.ReplicateReply;
import stoa.wire.proto.ReplicateRequest;
import stoa.wire.proto.RetainReply;
import stoa.wire.proto.RetainRequest;
import stoa.wire.proto.ShardStatus;
import stoa.wire.proto.StatusReply;
import stoa.wire.proto.StatusRequest;
import stoa.wire.proto.TimerStatus;
import stoa.wire.proto.TreeStatus;
import stoa.wire.proto.VersionsRequest;
import stoa.wire.proto.WhereRequest;
import stoa.wire.proto.Whereabouts;

/// Answers the requests outside of sessions: those of operators, of other servers, and of clients
/// that look for the store. Thread-safe.
final class SingleAnswers {
  /// The end of the streams of a server that ends.
  static final Status ENDED = Status.of(Status.Code.UNAVAILABLE, "the server ends");

  private static final Logger LOG = LoggerFactory.getLogger(SingleAnswers.class);
  private static final String VERSION = "0.1.0";
  private static final int SHOWN_MAX = 1_000;

  // How many questions of operators run at once: each may compute a large state of the past.
  private static final int LOOKS_MAX = 4;

  // How many questions at once may watch the objects in memory: a client asks all groups at once.
  private static final int WATCHES_MAX = 2 * SlotMap.GROUPS_MAX;

  private final ServedGroups servedGroups;
  private final TreeServer tree;
  private final CodeRequests code;
  private final Executor operators;
  private final Supplier<List<String>> alarms;
  private final Copying copying;
  private final Challenges challenges = new Challenges();
  private final Repeats repeats = new Repeats();
  private final Semaphore looks = new Semaphore(LOOKS_MAX);
  private final Semaphore watches = new Semaphore(WATCHES_MAX);
  private final long startedNanos = System.nanoTime();

  /// Creates it.
  ///
  /// @param code answers the requests about code
  /// @param operators runs each question; refuses when the server ends
  /// @param alarms returns what a status shows to operators of the server itself
  SingleAnswers(
      ServedGroups servedGroups,
      TreeServer tree,
      CodeRequests code,
      Executor operators,
      Supplier<List<String>> alarms) {
    this.servedGroups = servedGroups;
    this.tree = tree;
    this.code = code;
    this.operators = operators;
    this.alarms = alarms;
    copying = new Copying(servedGroups);
  }

  /// Begins to answer a request. Does not wait.
  ///
  /// @return the receiver of its messages
  Entrance.MessageReceiver receive(Rpc rpc, AuditedAnswer out) {
    if (rpc == Rpc.DEPLOY) return code.deploy(out);
    return asked -> run(rpc, asked, out);
  }

  private void run(Rpc rpc, Message asked, AuditedAnswer out) {
    try {
      operators.execute(() -> {
        try {
          if (rpc == Rpc.CLASS_FILES) code.files((ClassFilesRequest) asked, out);
          else out.answer(answer(rpc, asked));
        } catch (StatusException refused) {
          out.end(refused.status());
        } catch (RuntimeException failed) {
          repeats.tell("a question could not be answered: " + failed, l -> LOG.error(l, failed));
          out.refuse(Status.Code.UNKNOWN, failed.toString());
        }
      });
    } catch (RejectedExecutionException closed) {
      out.end(ENDED);
    }
  }

  private Message answer(Rpc rpc, Message asked) {
    return switch (rpc) {
      case STATUS -> status((StatusRequest) asked);
      case CANCEL -> cancel((CancelRequest) asked);
      case WHERE -> where((WhereRequest) asked);
      case CHALLENGE -> challenge();
      case JOIN -> join((JoinRequest) asked);
      case DRAIN -> drain((DrainRequest) asked);
      case REPLICATE -> replicate((ReplicateRequest) asked);
      case ACCEPT -> accept((AcceptRequest) asked);
      case VERSIONS -> code.versions((VersionsRequest) asked);
      case LOOK -> look((LookRequest) asked);
      case RETAIN -> retain((RetainRequest) asked);
      case BACK_UP -> copying.answer((BackUpRequest) asked);
      case READ_SEGMENT -> copying.answer((ReadSegmentRequest) asked);
      case CONVERSE, CLASS_FILES, DEPLOY, TREE ->
          throw new IllegalStateException(rpc + " has several messages");
    };
  }

  private StatusReply status(StatusRequest asked) {
    var reply =
        StatusReply.newBuilder()
            .setVersion(VERSION)
            .setUpMillis(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNanos));
    ServedGroup served = servedGroups.of(asked.getGroup());
    Peers peers = servedGroups.peers();
    reply.setGroups(servedGroups.groups());
    Throwable failed = servedGroups.failure();
    if (failed != null) reply.setFailure(String.valueOf(failed.getMessage()));
    reply.addAllAlarms(alarms.get());
    if (peers != null) {
      reply
          .setRole(served == null ? "follows" : "leads")
          .setReplicas(peers.replicas())
          .addAllServers(peers.status())
          .addAllAlarms(peers.alarms())
          .setServersAgeMillis(peers.age().toMillis());
    }
    if (served != null) describe(served, reply);
    if (served != null && asked.getGroup() == SlotMap.GLOBAL_GROUP) {
      tree.members().stream().limit(SHOWN_MAX).forEach(member -> reply.addTree(shown(member)));
    }
    return reply.build();
  }

  private static void describe(ServedGroup served, StatusReply.Builder reply) {
    ObjectService service = served.service();
    reply
        .setData(service.place())
        .setObjectsInMemory(service.residentKeys())
        .setCallsAnswered(served.answered().total())
        .setCallsPerSecond(served.answered().perSecond())
        .setSyncsPerSecond(served.syncs().perSecond());
    long moment = service.moment();
    List<OperatorService.Room> room = service.operator().room();
    for (DeviceStats device : service.operator().devices()) {
      OperatorService.Room here = room.get(reply.getShardsCount());
      reply.addShards(
          ShardStatus.newBuilder()
              .setShard(reply.getShardsCount())
              .setLogBytes(device.logBytes())
              .setCounter(moment)
              .setUsedBytes(here.usedBytes())
              .setFreeBytes(limited(Math.max(0, here.freeBytes())))
              .setQuotaBytes(limited(here.quotaBytes())));
    }
    served.registry().all().stream()
        .limit(SHOWN_MAX)
        .forEach(session -> reply.addSessions(session.status()));
    TimerCounts timers = service.operator().timers();
    if (timers.isUsed()) reply.setTimers(shown(timers));
    ListenerCounts listeners = service.operator().listeners();
    if (listeners.count() > 0) reply.setListeners(shown(listeners));
    for (ObjectCall call : service.operator().calls(SHOWN_MAX)) reply.addCalls(shown(served, call));
    service.operator().diverged().stream()
        .limit(SHOWN_MAX)
        .forEach(evidence -> reply.addQuarantined(shown(evidence)));
  }

  /// Returns a number of bytes in a reply, where 0 stands for no limit.
  private static long limited(long bytes) {
    return bytes == Long.MAX_VALUE ? 0 : bytes;
  }

  private static TimerStatus shown(TimerCounts timers) {
    return TimerStatus.newBuilder()
        .setCount(timers.count())
        .setOverdue(timers.overdue())
        .setLagMicros(timers.lagMicros())
        .setFired(timers.fired())
        .setFailed(timers.failed())
        .setEnded(timers.ended())
        .build();
  }

  private static ListenerStatus shown(ListenerCounts listeners) {
    return ListenerStatus.newBuilder()
        .setCount(listeners.count())
        .setFailing(listeners.failing())
        .setLag(listeners.lag())
        .build();
  }

  private static TreeStatus shown(TreeMember member) {
    return TreeStatus.newBuilder()
        .setName(member.name())
        .setNode(member.node())
        .setParent(member.parent())
        .setChildren(member.children())
        .setObjects(member.owned())
        .setInner(member.isInner())
        .setDomain(member.domain())
        .setLocality(member.locality().toString())
        .build();
  }

  private static QuarantineStatus shown(Divergence evidence) {
    var status =
        QuarantineStatus.newBuilder().setObject(evidence.object()).setEvidence(evidence.words());
    if (evidence.isFatal()) return status.build();
    return status
        .setLeaderState(evidence.led().toString())
        .setFollowerState(evidence.own().toString())
        .build();
  }

  private static CallStatus shown(ServedGroup served, ObjectCall call) {
    Session session = served.registry().find(call.session());
    return CallStatus.newBuilder()
        .setSession(call.session())
        .setPeer(session == null ? "" : session.peer())
        .setId(Long.toString(call.id()))
        .setObject(call.object())
        .setMethod(call.method())
        .setVersion(call.version())
        .setMillis(call.age().toMillis())
        .setRunning(
            call.progress() == ObjectCall.Progress.RUNNING
                || call.progress() == ObjectCall.Progress.CALLING)
        .setAwaiting(call.progress() == ObjectCall.Progress.AWAITING)
        .setCalls(call.calls())
        .build();
  }

  private CancelReply cancel(CancelRequest asked) {
    var reply = CancelReply.newBuilder();
    ServedGroup served = servedGroups.of(asked.getGroup());
    if (asked.getSession() != 0) {
      reply.setCancelled(served != null && served.registry().evict(asked.getSession()));
      if (!reply.getCancelled()) {
        reply.setWhy(
            "group %d has no session %s here; ./stoa status --group %d lists its sessions"
                .formatted(
                    asked.getGroup(), Long.toUnsignedString(asked.getSession()), asked.getGroup()));
      }
    } else {
      cancel(served, asked.getId(), reply);
    }
    return reply.build();
  }

  private static void cancel(@Nullable ServedGroup served, String call, CancelReply.Builder reply) {
    try {
      reply.setCancelled(
          served != null && served.service().operator().cancel(Long.parseLong(call)));
      if (!reply.getCancelled()) {
        reply.setWhy("no call " + call + " is in progress that can be canceled");
      }
    } catch (NumberFormatException none) {
      reply.setWhy(call + " is no call's number; ./stoa status lists them");
    }
  }

  private Whereabouts where(WhereRequest asked) {
    int group = asked.getGroup();
    if (!servedGroups.has(group)) {
      throw Status.of(Status.Code.FAILED_PRECONDITION, servedGroups.hasNot(group)).exception();
    }
    try {
      return servedGroups.whereabouts(group).join();
    } catch (CompletionException | CancellationException unknown) {
      throw Status.of(Status.Code.UNAVAILABLE, ServedGroups.NOBODY).exception();
    }
  }

  private ChallengeReply challenge() {
    Peers peers = servedGroups.peers();
    var reply = ChallengeReply.newBuilder();
    if (peers != null && peers.secret() != null) {
      reply.setChallenge(challenges.give(System.nanoTime()));
    }
    return reply.build();
  }

  private Peers peers() {
    Peers peers = servedGroups.peers();
    if (peers != null) return peers;
    throw new IllegalArgumentException(
        "this server keeps its store alone; stop it, and start it with --replicated: then it is"
            + " the first of several");
  }

  /// Admits a request of a sender that knows the secret of the servers.
  ///
  /// @param challenge the challenge that the request answers
  /// @param isProved returns whether its proof is valid under the secret
  private Peers peer(ByteString challenge, Predicate<Secret> isProved) {
    Peers peers = peers();
    Secret secret = peers.secret();
    boolean knows =
        secret == null
            || (challenges.wasGiven(challenge, System.nanoTime()) && isProved.test(secret));
    if (knows) return peers;
    throw new IllegalArgumentException(
        "the caller does not know the secret of the servers; give --secret FILE with a copy of"
            + " cluster.secret, which is in the data directory of each server");
  }

  private JoinReply join(JoinRequest asked) {
    var reply = JoinReply.newBuilder();
    try {
      peer(asked.getChallenge(), secret -> Proofs.isProved(asked, secret))
          .join(asked.getServer(), asked.getMember());
    } catch (StoaException | IllegalArgumentException refused) {
      reply.setRefusal(String.valueOf(refused.getMessage()));
    }
    return reply.build();
  }

  private DrainReply drain(DrainRequest asked) {
    var reply = DrainReply.newBuilder();
    try {
      peer(asked.getChallenge(), secret -> Proofs.isProved(asked, secret)).drain(asked.getServer());
    } catch (StoaException | IllegalArgumentException refused) {
      reply.setRefusal(String.valueOf(refused.getMessage()));
    }
    return reply.build();
  }

  private ReplicateReply replicate(ReplicateRequest asked) {
    var reply = ReplicateReply.newBuilder();
    try {
      peers().setReplicas(asked.getReplicas());
    } catch (StoaException | IllegalArgumentException refused) {
      reply.setRefusal(String.valueOf(refused.getMessage()));
    }
    return reply.build();
  }

  private AcceptReply accept(AcceptRequest asked) {
    var reply = AcceptReply.newBuilder();
    ServedGroup served = servedGroups.of(asked.getGroup());
    // It does not lead any more: the operator's command asks the one that does.
    if (served == null) throw Status.of(Status.Code.UNAVAILABLE, ServedGroups.NOBODY).exception();
    try {
      if (asked.getAll()) {
        acceptAll(served.service(), reply);
      } else if (served.service().operator().accept(asked.getObject())) {
        reply.setAccepted(1);
      } else {
        reply.setRefusal(asked.getObject() + " is not in quarantine; ./stoa status lists what is");
      }
    } catch (StoaException refused) {
      reply.setRefusal(String.valueOf(refused.getMessage()));
    }
    return refused(served, reply.getRefusal(), reply.build());
  }

  /// Returns a reply. When the store does not lead any more, its refusal is not final: the
  /// operator's command asks the server that leads.
  private static <T> T refused(ServedGroup served, String refusal, T reply) {
    if (!refusal.isEmpty() && served.isOver()) {
      throw Status.of(Status.Code.UNAVAILABLE, ServedGroups.NOBODY).exception();
    }
    return reply;
  }

  private static void acceptAll(ObjectService service, AcceptReply.Builder reply) {
    for (Divergence evidence : service.operator().diverged()) {
      try {
        // An object that was deleted meanwhile is not in quarantine any more.
        if (service.operator().accept(evidence.object()))
          reply.setAccepted(reply.getAccepted() + 1);
      } catch (StoaException refused) {
        reply.setRefused(reply.getRefused() + 1);
        if (!reply.getRefusal().isEmpty()) continue;
        reply.setRefusal(evidence.object() + ": " + refused.getMessage());
      }
    }
  }

  private LookReply look(LookRequest asked) {
    ServedGroup served = servedGroups.led(asked.getGroup());
    Semaphore turns = asked.hasUse() ? watches : looks;
    if (!turns.tryAcquire()) {
      int most = asked.hasUse() ? WATCHES_MAX : LOOKS_MAX;
      return refusal("this server answers " + most + " such questions; try again soon");
    }
    try {
      return asked.hasAudit()
          ? Audit.last(served.service().streams().all(), asked.getAudit().getMax())
          : Looking.answer(served.service().look(), asked);
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      return refusal("the server cannot tell: " + failed);
    } finally {
      turns.release();
    }
  }

  private RetainReply retain(RetainRequest asked) {
    var reply = RetainReply.newBuilder();
    ServedGroup served = servedGroups.led(asked.getGroup());
    try {
      if (asked.getRulesCount() > 0) {
        served.service().retention().change(asked.getRulesList());
      }
      if (asked.hasRelease()) release(served.service(), asked.getRelease(), reply);
      reply.addAllRules(served.service().retention().rules());
    } catch (StoaException | IllegalArgumentException refused) {
      reply.clear().setRefusal(CodeRequests.reason(refused));
    }
    return refused(served, reply.getRefusal(), reply.build());
  }

  private static void release(ObjectService service, Release asked, RetainReply.Builder reply) {
    byte[] key = asked.getKey().isEmpty() ? null : asked.getKey().toByteArray();
    RetentionService.Released released =
        service.retention().release(asked.getType(), key, asked.getVersions(), asked.getSkip());
    reply.setReleased(released.objects()).setNext(released.next());
  }

  private static LookReply refusal(String why) {
    return LookReply.newBuilder().setRefusal(why).build();
  }
}

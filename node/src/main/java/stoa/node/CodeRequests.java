package stoa.node;

import com.google.protobuf.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Executor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;
import stoa.objects.CodeService;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.ClassTransfer;
import stoa.wire.proto.ClassFile;
import stoa.wire.proto.ClassFilesRequest;
import stoa.wire.proto.DeployPart;
import stoa.wire.proto.DeployReply;
import stoa.wire.proto.DeployResult;
import stoa.wire.proto.Finding;
import stoa.wire.proto.VersionStatus;
import stoa.wire.proto.VersionsReply;
import stoa.wire.proto.VersionsRequest;

/// The operators' commands on the code of shared types. Thread-safe.
///
/// One check or deployment runs at a time: it runs users' code on all objects of a type.
final class CodeRequests {
  private static final long BETWEEN_PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
  private static final int REASON_CHARACTERS_MAX = 4_000;
  private static final long BRINGING_SECONDS_MAX = 30;

  private final ServedGroups servedGroups;
  private final Executor operators;
  private final ServerConfig config;
  private final Semaphore turn = new Semaphore(1);

  /// Creates it.
  ///
  /// @param operators runs what waits
  /// @param config says whether clients bring classes
  CodeRequests(ServedGroups servedGroups, Executor operators, ServerConfig config) {
    this.servedGroups = servedGroups;
    this.operators = operators;
    this.config = config;
  }

  /// Returns the code of a group's types.
  ///
  /// @throws StatusException as [ServedGroups#led]
  private CodeService code(int group) {
    return servedGroups.led(group).service().code();
  }

  VersionsReply versions(VersionsRequest asked) {
    var reply = VersionsReply.newBuilder();
    try {
      CodeService code = code(asked.getGroup());
      var versions = new ArrayList<>(code.versions());
      versions.addAll(code.handlers());
      for (CodeService.TypeVersion one : versions) {
        reply.addVersions(
            VersionStatus.newBuilder()
                .setType(one.type())
                .setTurn(one.turn())
                .setVersion(one.version())
                .setActive(one.active())
                .addAllAccepted(one.accepted()));
      }
    } catch (StoaException | IllegalArgumentException refused) {
      reply.clear().setRefusal(reason(refused));
    }
    return reply.build();
  }

  void files(ClassFilesRequest asked, AuditedAnswer out) {
    try {
      var files = code(asked.getGroup()).files(asked.getType(), asked.getVersion());
      files.forEach((name, file) -> out.send(ClassTransfer.deflated(name, file)));
      out.end(Status.OK);
    } catch (StoaException | IllegalArgumentException refused) {
      out.refuse(Status.Code.FAILED_PRECONDITION, reason(refused));
    }
  }

  /// Takes classes of a client whose roles allow that.
  Entrance.MessageReceiver deploy(AuditedAnswer out) {
    return new Deploying(out);
  }

  /// Returns why something is refused, cut to what fits into a message.
  static String reason(Throwable refused) {
    String told = refused.getMessage();
    String text = told == null ? refused.toString() : told;
    return text.length() <= REASON_CHARACTERS_MAX
        ? text
        : text.substring(0, REASON_CHARACTERS_MAX) + " ...";
  }

  /// One request: gathers class files, and tries them when all are here. The reading thread calls
  /// it.
  private final class Deploying implements Entrance.MessageReceiver {
    private final AuditedAnswer out;
    private final List<ClassFile> files = new ArrayList<>();
    private @Nullable DeployPart first;
    private long bytes;
    private boolean ended;

    Deploying(AuditedAnswer out) {
      this.out = out;
    }

    @Override
    public void part(Message message) {
      if (ended) return;
      var part = (DeployPart) message;
      if (first == null) first = part.toBuilder().clearFiles().build();
      bytes += part.getSerializedSize();
      if (bytes > ClassTransfer.BYTES_MAX) {
        files.clear();
        end(refusal("more than " + ClassTransfer.BYTES_MAX + " bytes of class files were sent"));
        return;
      }
      files.addAll(part.getFilesList());
    }

    @Override
    public void gone() {
      if (ended) return;
      ended = true;
      files.clear();
    }

    @Override
    public void whole() {
      DeployPart asked = first;
      if (ended || asked == null) return;
      ended = true;
      operators.execute(() -> {
        try {
          end(result(asked));
        } catch (StatusException elsewhere) {
          out.end(elsewhere.status());
        }
      });
    }

    private void end(DeployResult result) {
      ended = true;
      out.answer(DeployReply.newBuilder().setResult(result).build());
    }

    private static DeployResult refusal(String why) {
      return DeployResult.newBuilder().setRefusal(why).build();
    }

    private DeployResult result(DeployPart asked) {
      if (asked.getBrings() && !config.clientClasses()) {
        return refusal("the server takes no classes from clients; start it with --client-classes");
      }
      if (!isMyTurn(asked)) {
        return refusal("another check or deployment runs at this server; try again when it ends");
      }
      try {
        CodeService code = code(asked.getGroup());
        var arrived = new ClassTransfer();
        files.forEach(arrived::add);
        files.clear();
        if (arrived.files().isEmpty()) return refusal("no class files were sent");
        var types = Set.copyOf(asked.getTypesList());
        long objectsMax = asked.getObjectsMax() == 0 ? Long.MAX_VALUE : asked.getObjectsMax();
        if (asked.getBrings()) {
          code.bring(arrived.files(), types);
          return DeployResult.newBuilder().setDeployed(true).build();
        }
        var accepted = Set.copyOf(asked.getAcceptedList());
        var trust = asked.getTrusted() ? CodeService.Trust.WHOLE : CodeService.Trust.STRICT;
        var found =
            asked.getDeploys()
                ? code.deploy(arrived.files(), types, accepted, trust, new Progress()::tried)
                : code.check(
                    arrived.files(),
                    new CodeService.Sample(types, objectsMax, asked.getReplays()),
                    accepted,
                    trust,
                    new Progress()::tried);
        var result = DeployResult.newBuilder().addAllSuperfluous(found.superfluous());
        found.findings().forEach(finding -> result.addFindings(shown(finding)));
        return result.setDeployed(asked.getDeploys() && found.fits()).build();
      } catch (StoaException | IllegalArgumentException refused) {
        return refusal(reason(refused));
      } catch (CancellationException gone) {
        return refusal("its client is gone");
      } catch (StatusException elsewhere) {
        throw elsewhere;
      } catch (RuntimeException | LinkageError failed) {
        return refusal("the classes cannot be tried: " + failed);
      } finally {
        turn.release();
      }
    }

    /// Waits for its turn if a client brings classes: several clients begin at a time.
    private boolean isMyTurn(DeployPart asked) {
      if (!asked.getBrings()) return turn.tryAcquire();
      try {
        return turn.tryAcquire(BRINGING_SECONDS_MAX, TimeUnit.SECONDS);
      } catch (InterruptedException stopping) {
        Thread.currentThread().interrupt();
        return false;
      }
    }

    /// Tells the client how many objects were tried.
    private final class Progress {
      private long toldNanos = System.nanoTime();

      void tried(long objects) {
        if (out.isOver()) throw new CancellationException();
        long now = System.nanoTime();
        if (now - toldNanos < BETWEEN_PROGRESS_NANOS) return;
        toldNanos = now;
        out.send(DeployReply.newBuilder().setTried(objects).build());
      }
    }
  }

  private static Finding shown(CodeService.Finding finding) {
    var kind =
        switch (finding.kind()) {
          case NEW -> Finding.Kind.NEW;
          case ACTIVE -> Finding.Kind.SAME;
          case CHANGED -> Finding.Kind.CHANGED;
          case REFUSED -> Finding.Kind.REFUSED;
        };
    return Finding.newBuilder()
        .setType(finding.type())
        .setKind(kind)
        .setObjects(finding.objects())
        .setUnfit(finding.unfit())
        .setReason(finding.reason())
        .setCalls(finding.calls().compared())
        .setCallsDifferent(finding.calls().different())
        .setFirstDifferent(finding.calls().first())
        .build();
  }
}

package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.wire.proto.CancelReply;
import stoa.wire.proto.CancelRequest;

/// `stoa end-session`: ends the session of a client.
@Command(
    name = "end-session",
    description =
        "Ends the session of a client, and releases what the session has open: transactions,"
            + " listeners, unread answers. ./stoa status and ./stoa top list sessions.",
    footer = {
      "",
      "A client that still runs opens another session by itself. Its calls in progress end with",
      "UnknownOutcome, and it registers its listeners again. To keep a client out, remove its",
      "identity."
    })
final class EndSessionCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(paramLabel = "SESSION", description = "The number of the session.")
  private long session;

  @Option(
      names = "--group",
      paramLabel = "N",
      description =
          "The group of the session, in a store of several groups; a client has a session in each"
              + " group that it uses. Default: 0")
  private int group;

  private EndSessionCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    var asked = CancelRequest.newBuilder().setSession(session).setGroup(group).build();
    CancelReply reply = operator.ask(group, server -> server.cancel(asked));
    if (reply.getCancelled()) {
      commandLine.getOut().println("session " + session + " has ended");
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getWhy());
    return 1;
  }
}

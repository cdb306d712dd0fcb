package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import stoa.programs.Words;
import stoa.wire.proto.AcceptReply;
import stoa.wire.proto.AcceptRequest;
import stoa.wire.proto.StatusRequest;

/// `stoa accept`: ends the quarantine of an object.
@Command(
    name = "accept",
    description =
        "Ends the quarantine of an object, or of all; ./stoa status lists the objects in"
            + " quarantine.",
    footer = {
      "",
      "All servers continue with the state of the leading server. Other states are",
      "lost; look at the object's history first. The object will differ again unless",
      "you correct its class.",
      "",
      "An object with a call that has ended a server's process twice continues without",
      "that call."
    })
final class AcceptCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Parameters(
      paramLabel = "OBJECT",
      arity = "0..1",
      description = "The object, as ./stoa status names it.")
  private String object = "";

  @Option(names = "--all", description = "All objects in quarantine, in all groups.")
  private boolean all;

  @Option(
      names = "--group",
      paramLabel = "N",
      description = "The group of the object, in a store of several groups. Default: 0")
  private int group;

  private AcceptCommand() {}

  @Override
  public Integer call() {
    var commandLine = Objects.requireNonNull(spec).commandLine();
    if (all == !object.isEmpty()) {
      throw new ParameterException(commandLine, "give one object, or --all");
    }
    if (all) return acceptAll(commandLine);
    AcceptReply reply =
        operator.ask(
            group,
            server ->
                server.accept(
                    AcceptRequest.newBuilder().setObject(object).setGroup(group).build()));
    if (reply.getRefusal().isEmpty()) {
      commandLine.getOut().println(object + " continues with the state of the leading server");
      return 0;
    }
    commandLine.getErr().println("stoa: " + reply.getRefusal());
    return 1;
  }

  private int acceptAll(CommandLine line) {
    long accepted = 0;
    boolean refused = false;
    int groups =
        operator.ask(server -> server.status(StatusRequest.getDefaultInstance())).getGroups();
    for (int next = 0; next < groups; next++) {
      var asked = AcceptRequest.newBuilder().setGroup(next).setAll(true).build();
      AcceptReply reply = operator.askLong(next, server -> server.accept(asked));
      accepted += reply.getAccepted();
      if (reply.getRefusal().isEmpty()) continue;
      refused = true;
      String others = reply.getRefused() > 1 ? ", and " + (reply.getRefused() - 1) + " others" : "";
      line.getErr().println("stoa: group " + next + ": " + reply.getRefusal() + others);
    }
    line.getOut()
        .println(
            Words.count(accepted, "object") + " continue with the state of the server that leads");
    return refused ? 1 : 0;
  }
}

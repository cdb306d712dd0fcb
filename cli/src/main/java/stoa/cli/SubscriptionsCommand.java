package stoa.cli;

import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import stoa.Stoa;
import stoa.Subscription;
import stoa.programs.Words;

/// `stoa subscriptions`: lists the durable subscriptions to changes, and deletes one.
@Command(
    name = "subscriptions",
    description =
        "Lists the durable subscriptions to the changes of a served store, or deletes one.",
    footer = {
      "",
      "The store keeps the log behind the position of each subscription, until its consumer has not",
      "acknowledged anything for as long as the subscription says. Delete one whose consumer is gone."
    })
final class SubscriptionsCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;
  @Mixin private Operator operator = new Operator();

  @Option(
      names = "--delete",
      paramLabel = "NAME",
      description = "Delete the subscription of this name.")
  private @Nullable String deleted;

  private SubscriptionsCommand() {}

  @Override
  public Integer call() {
    var out = Objects.requireNonNull(spec).commandLine().getOut();
    try (Stoa stoa = operator.open()) {
      String name = deleted;
      if (name != null) {
        boolean existed = stoa.unsubscribe(name);
        out.println(existed ? name + " is deleted" : "there is no subscription " + name);
        out.flush();
        return existed ? 0 : 1;
      }
      var all = stoa.subscriptions();
      for (Subscription one : all) {
        out.println(
            one.name()
                + "  at "
                + one.position()
                + ", kept for "
                + one.ageMax().toSeconds()
                + " s");
      }
      out.println(Words.count(all.size(), "subscription"));
      out.flush();
      return 0;
    }
  }
}

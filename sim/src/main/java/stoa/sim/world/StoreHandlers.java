package stoa.sim.world;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.store.running.Execution;
import stoa.store.running.Handler;
import stoa.store.running.HandlerFactory;

/// The handlers of [StoreScenario]: accounts that send each other money and remember every id, and
/// answer in text.
///
/// Puts are `add ID`, `run ID` (adds, and then does not end), `send ID TO AMOUNT`, `take ID AMOUNT`
/// and `pass ID VIA TO AMOUNT` (sends by way of another account). An answer is `done` with the
/// versions of the added lines, or `refused`. The question `peek TO` asks another account for its
/// balance, and is answered with `saw`, the version of the asked account, and that balance.
public final class StoreHandlers implements HandlerFactory {
  public static final String SPACE = "account";
  public static final long OPENING = 1_000;
  private static final int PATH_MAX = 3;

  private final Runnable runaway;

  /// @param runaway lets so much time pass that the store takes back the call in progress
  public StoreHandlers(Runnable runaway) {
    this.runaway = runaway;
  }

  public static Key key(String name) {
    return Key.of(SPACE, name);
  }

  record Text(String text) implements Answer {
    @Override
    public byte[] encoded() {
      return text.getBytes(StandardCharsets.UTF_8);
    }
  }

  @Override
  public Handler create(Key key, byte @Nullable [] opening, Execution execution) {
    return new Account(OPENING, new ArrayList<>());
  }

  @Override
  public Handler restore(Key key, byte[] checkpoint) {
    List<String> lines = lines(new String(checkpoint, StandardCharsets.UTF_8));
    return new Account(
        Long.parseLong(lines.getFirst()), new ArrayList<>(lines.subList(1, lines.size())));
  }

  @Override
  public Answer failure(RuntimeException cause) {
    return new Text("refused " + cause.getClass().getSimpleName());
  }

  private static List<String> lines(String text) {
    return text.lines().toList();
  }

  private final class Account implements Handler {
    private long balance;
    // Lines of a word, an id and a version.
    private final List<String> lines;

    private Account(long balance, List<String> lines) {
      this.balance = balance;
      this.lines = lines;
    }

    @Override
    public Answer put(byte[] value, Execution execution) {
      List<String> words =
          Pattern.compile(" ")
              .splitAsStream(new String(value, StandardCharsets.UTF_8))
              .limit(PATH_MAX + 3)
              .toList();
      String id = words.get(1);
      return switch (words.getFirst()) {
        case "add" -> add("added", id, 0, execution);
        case "run" -> {
          add("added", id, 0, execution);
          runaway.run();
          yield new Text("ended");
        }
        case "take" -> add("taken", id, Long.parseLong(words.get(2)), execution);
        case "send" ->
            send(id, words.get(2), "take " + id + " " + words.get(3), words.get(3), execution);
        case "relay" -> send(id, words.get(2), "take " + id + " " + words.get(3), "0", execution);
        case "pass" ->
            send(
                id,
                words.get(2),
                "relay " + id + " " + words.get(3) + " " + words.get(4),
                words.get(4),
                execution);
        default -> throw new IllegalArgumentException(words.getFirst());
      };
    }

    private Text add(String word, String id, long amount, Execution execution) {
      balance += amount;
      lines.add(word + " " + id + " " + execution.address());
      return new Text("done " + execution.address());
    }

    private Text send(String id, String to, String value, String amount, Execution execution) {
      long sum = Long.parseLong(amount);
      balance -= sum;
      byte[] bytes = value.getBytes(StandardCharsets.UTF_8);
      byte[] answer = execution.put(key(to), bytes, new Existence.Any(null));
      String text = new String(answer, StandardCharsets.UTF_8);
      if (text.startsWith("refused")) {
        balance += sum;
        return new Text(text);
      }
      lines.add("sent " + id + " " + execution.address());
      return new Text("done " + execution.address() + text.substring(4));
    }

    @Override
    public Answer get(@Nullable Object query, Execution execution) {
      String question = String.valueOf(query);
      if (question.startsWith("peek ")) {
        byte[] answer =
            execution.get(key(question.substring(5)), "balance", new Existence.Any(null));
        String text = new String(answer, StandardCharsets.UTF_8);
        return new Text("saw " + execution.address() + " " + text);
      }
      if (question.equals("balance")) return new Text(Long.toString(balance));
      return new Text(new String(checkpoint(), StandardCharsets.UTF_8));
    }

    @Override
    public byte[] checkpoint() {
      return (balance + "\n" + String.join("\n", lines)).getBytes(StandardCharsets.UTF_8);
    }
  }
}

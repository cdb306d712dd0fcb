package stoa.sim.check;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.regex.Pattern;

/// A history drawn in text, one line per client and time from left to right:
///
/// ```text
/// a: |-- write 1 --|      |-- read 2 --|
/// b:        |-- write 2 ...
/// c:            |-- write 3 --x
/// ```
///
/// A call is drawn from `|` to `|`, to `...` when it stays pending, and to `x` when it is lost. In
/// one column, beginnings come before ends.
public final class Timeline<I, O> {
  private static final Pattern CALL =
      Pattern.compile("\\|-- (?<text>[^|]+?) (?:-{2,}(?<over>[|x])|\\.\\.\\.)");

  private final BiFunction<String, List<String>, I> input;
  private final Function<List<String>, O> output;

  /// @param input a call from its method and arguments
  /// @param output an answer from the words behind the arrow `>`
  Timeline(BiFunction<String, List<String>, I> input, Function<List<String>, O> output) {
    this.input = input;
    this.output = output;
  }

  public static Timeline<CounterModel.Input, Long> counter() {
    return new Timeline<>(
        (method, _) ->
            switch (method) {
              case "inc" -> new CounterModel.Input.Increment(1);
              case "read" -> new CounterModel.Input.Read();
              default -> throw new IllegalArgumentException(method);
            },
        words -> Long.parseLong(words.getFirst()));
  }

  public static Timeline<RegisterModel.Input, RegisterModel.Output> register() {
    return new Timeline<>(
        (method, words) ->
            switch (method) {
              case "read" -> new RegisterModel.Input.Read();
              case "write" -> new RegisterModel.Input.Write(Long.parseLong(words.get(0)));
              case "swap" ->
                  new RegisterModel.Input.Swap(
                      Long.parseLong(words.get(0)), Long.parseLong(words.get(1)));
              default -> throw new IllegalArgumentException(method);
            },
        words ->
            switch (words.getFirst()) {
              case "done" -> new RegisterModel.Output.Done();
              case "true", "false" ->
                  new RegisterModel.Output.Swapped(Boolean.parseBoolean(words.getFirst()));
              default -> new RegisterModel.Output.Value(Long.parseLong(words.getFirst()));
            });
  }

  public static Timeline<QueueModel.Input, Optional<Long>> queue() {
    return new Timeline<>(
        (method, words) ->
            switch (method) {
              case "put" -> new QueueModel.Input.Put(Long.parseLong(words.getFirst()));
              case "take" -> new QueueModel.Input.Take();
              default -> throw new IllegalArgumentException(method);
            },
        Timeline::optional);
  }

  public static Timeline<MapModel.Input, Optional<Long>> map() {
    return new Timeline<>(
        (method, words) ->
            switch (method) {
              case "put" -> new MapModel.Input.Put(words.get(0), Long.parseLong(words.get(1)));
              case "get" -> new MapModel.Input.Get(words.getFirst());
              case "remove" -> new MapModel.Input.Remove(words.getFirst());
              default -> throw new IllegalArgumentException(method);
            },
        Timeline::optional);
  }

  public static Timeline<AppendListModel.Input, List<String>> list() {
    return new Timeline<>(
        (method, words) ->
            switch (method) {
              case "append" -> new AppendListModel.Input.Append(words.getFirst());
              case "read" -> new AppendListModel.Input.Read();
              default -> throw new IllegalArgumentException(method);
            },
        words -> words.equals(List.of("none")) ? List.of() : words);
  }

  private static Optional<Long> optional(List<String> words) {
    return words.equals(List.of("none"))
        ? Optional.empty()
        : Optional.of(Long.parseLong(words.getFirst()));
  }

  public CallHistory<I, O> parse(String drawing) {
    record At<I, O>(int column, boolean end, CallHistory.Event<I, O> event) {}
    List<At<I, O>> all = new ArrayList<>();
    int call = 0;
    for (String line : drawing.lines().filter(text -> !text.isBlank()).toList()) {
      String client = line.substring(0, line.indexOf(':')).strip();
      var matcher = CALL.matcher(line);
      int calls = 0;
      while (matcher.find()) {
        calls++;
        call++;
        String text = matcher.group("text").strip();
        int arrow = text.indexOf(" > ");
        List<String> words = words(arrow < 0 ? text : text.substring(0, arrow));
        I in = input.apply(words.getFirst(), words.subList(1, words.size()));
        all.add(new At<>(matcher.start(), false, new CallHistory.Invoked<>(call, client, in)));
        String over = matcher.group("over");
        if (over == null) continue;
        CallHistory.Event<I, O> event =
            over.equals("x")
                ? new CallHistory.Lost<>(call)
                : new CallHistory.Returned<>(call, output.apply(words(text.substring(arrow + 3))));
        all.add(new At<>(matcher.end() - 1, true, event));
      }
      if (calls != line.chars().filter(c -> c == '|').count() - pairs(line)) {
        throw new IllegalArgumentException("cannot read the line: " + line);
      }
    }
    all.sort(Comparator.<At<I, O>>comparingInt(At::column).thenComparing(At::end));
    return new CallHistory<>(all.stream().map(At::event).toList());
  }

  private static List<String> words(String text) {
    return Pattern.compile(" ").splitAsStream(text).toList();
  }

  private static long pairs(String line) {
    return Pattern.compile("--\\|").matcher(line).results().count();
  }
}

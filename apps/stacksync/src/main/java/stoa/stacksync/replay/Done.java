package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.List;

/// The answer of an [Instance] to an order, as a line of text:
///
/// ```
/// done NUMBER CONFLICTS NANOS NANOS …
/// ```
///
/// @param batch the number of the batch that the service has now
/// @param conflicts how many of its changes were refused first, because of an old version
/// @param nanos how long each call took
record Done(int batch, int conflicts, List<Long> nanos) {
  private static final String DONE = "done";

  Done {
    nanos = List.copyOf(nanos);
  }

  /// This answer as a line.
  String text() {
    var text = new StringBuilder(DONE).append(' ').append(batch).append(' ').append(conflicts);
    for (long each : nanos) text.append(' ').append(each);
    return text.toString();
  }

  /// The answer of a line.
  ///
  /// @throws IllegalArgumentException when it is no answer
  static Done parse(String line) {
    var words = line.split(" ", -1);
    if (words.length < 3 || !words[0].equals(DONE)) {
      throw new IllegalArgumentException("\"" + line + "\" is no answer to an order");
    }
    var nanos = new ArrayList<Long>();
    for (int i = 3; i < words.length; i++) nanos.add(Long.parseLong(words[i]));
    return new Done(Integer.parseInt(words[1]), Integer.parseInt(words[2]), nanos);
  }
}

package stoa.node;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The listings of a session of which the client has not read all. Guarded by its session.
final class Listings {
  private static final int LISTINGS_MAX = 64;

  /// What is left of a listing.
  ///
  /// @param keys the keys that were not told yet
  /// @param told how many were
  record Rest(Iterator<byte[]> keys, int told) {}

  private final Map<String, Rest> rests =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Rest> eldest) {
          return size() > LISTINGS_MAX;
        }
      };
  private long numbers;

  /// Keeps one, and answers the token to ask for it with.
  ///
  /// @param owner of the store: a later server knows the tokens of an earlier one from its own
  String keep(Rest rest, long owner) {
    String token = owner + "." + ++numbers + ":" + rest.told();
    rests.put(token, rest);
    return token;
  }

  /// Takes one out; null when it is not there any more.
  @Nullable Rest take(String token) {
    return rests.remove(token);
  }

  /// How many keys were told of the listing of a token.
  static int told(String token) {
    try {
      int told = Integer.parseInt(token.substring(token.indexOf(':') + 1));
      if (told >= 0) return told;
    } catch (NumberFormatException e) {
      // Told below.
    }
    throw new IllegalArgumentException("\"" + token + "\" is no token of a listing");
  }
}

package stoa.http;

import com.google.gson.JsonObject;
import java.util.List;

/// The pasts of objects, as the operators' commands show them. Thread-safe.
public interface Pasts {
  /// Returns the newest version of an object that was logged up to a time.
  ///
  /// @param key as operators write it
  /// @param at a time as operators write it
  /// @throws IllegalArgumentException when it is none, or the version is unknown
  long version(String type, String key, String at);

  /// Returns entries of the stream of an object, each with its `version`; what was released is
  /// passed over.
  ///
  /// @param key as operators write it
  /// @throws IllegalArgumentException when the server does not tell now
  List<JsonObject> entries(String type, String key, long from, long to);
}

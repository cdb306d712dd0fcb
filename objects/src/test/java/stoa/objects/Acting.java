package stoa.objects;

/// The methods by which tests call users' classes that the tests compile.
public interface Acting {
  /// Changes the object, and does as it is told.
  int act(String how);

  /// Does as it is told.
  int ask(String how);
}

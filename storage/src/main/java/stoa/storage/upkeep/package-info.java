/// Maintains, verifies, surveys and salvages a device.
package stoa.storage.upkeep;

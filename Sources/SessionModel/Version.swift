/// The program's version, as `--version`, the manifests and the manual show it.
package let recorderVersion = "0.1.0"

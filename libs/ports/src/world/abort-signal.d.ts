// The one type of the platform that ports name, as far as they use it. Ports are compiled without the types of Node; an
// adapter sees the platform's whole AbortSignal.
interface AbortSignal {
  readonly aborted: boolean;
}

// The name of a route in spans and logs: its template, with the names of parameters that the API's reference has.
// `/v1/threads/:thread/messages` is `/v1/threads/{id}/messages`. A metric has the template as the server writes it.

const nameOf: Readonly<Record<string, string>> = {
  agent: 'name',
  choice: 'chc',
  key: 'id',
  secret: 'name',
  server: 'name',
  thread: 'id',
  version: 'n',
};

export const routeName = (url: string): string =>
  url.replaceAll(/:(\w+)/g, (_all, parameter: string) => {
    const isParked = url.startsWith('/v1/parked/'); // the reference names its thread as such
    return `{${isParked ? parameter : (nameOf[parameter] ?? parameter)}}`;
  });

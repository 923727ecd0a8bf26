// A request that a button makes: what was done or refused is said, and what is shown is read again.
import { problemText } from '../api/client.ts';
import { queries } from '../api/queries.ts';
import { say } from './notices.ts';

export function attempt(done: string, request: () => Promise<unknown>, then: () => void = () => {}): void {
  const run = async (): Promise<void> => {
    try {
      await request();
    } catch (error) {
      say('error', problemText(error));
      return;
    }
    say('done', done);
    then();
    await queries.invalidateQueries();
  };
  void run();
}

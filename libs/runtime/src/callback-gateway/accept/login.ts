// A login that a person is asked for. Its URL is sealed before it reaches the thread. (callback-gateway C4)
import { loginOwner } from '@dormouse/ports';
import { inputIds } from '@dormouse/thread';
import { namesOf, type Acceptance, type CallbackOf } from './acceptance.ts';

export function acceptLogin(message: Acceptance, login: CallbackOf<'oauth'>): Promise<void> {
  const { deps, settings, scope } = message;
  const { tenant, thread, toolCallId, toolServer } = scope;
  const { message: name, question } = namesOf(message, login.authUrl);
  const id = inputIds.login(toolCallId, name);
  const expiresAt = deps.clock.now() + settings.loginDeadlineMs;
  return message.publish(id, async () => {
    const sealed = deps.sealer.seal(loginOwner(tenant, thread, toolCallId), login.authUrl);
    await deps.logins.put({ tenant, thread }, { toolCallId, sealed, expiresAt });
    return { kind: 'LoginPrompt', id, toolCallId, toolServer, question, expiresAt };
  });
}

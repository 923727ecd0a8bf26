// The naive thread-processor: one message at a time, the whole history read each time, one insert per event.
import { Redis } from 'ioredis';
import mongoose from 'mongoose';
import { randomUUID } from 'node:crypto';
import { askModel } from './model.ts';
import { connectEmitter, serveTopic } from './nest-kafka.ts';
import { type Dispatch, type HistoryEvent, type Input, required, topics } from './parts.ts';

await mongoose.connect(required('mongo'));
const schema = new mongoose.Schema(
  { thread: String, position: Number, role: String, text: String, call: String },
  { versionKey: false, writeConcern: { w: 'majority', j: true } },
);
schema.index({ thread: 1, position: 1 });
const History = mongoose.model('history', schema, 'history');
await History.init();
const redis = new Redis(required('redis'));
const bus = await connectEmitter('naive-processor');

await serveTopic<Input>('naive-processor', topics.inputs, async ({ thread, kind, text, call }) => {
  const history: HistoryEvent[] = await History.find({ thread }).sort({ position: 1 }).lean<HistoryEvent[]>();
  const add = async (event: Pick<HistoryEvent, 'role' | 'text' | 'call'>): Promise<void> => {
    const next = { thread, position: history.length + 1, ...event };
    history.push(next);
    await History.create(next);
  };
  await add(kind === 'user' ? { role: 'user', text, call: null } : { role: 'tool', text, call: call ?? null });
  const message = await askModel(history);
  await add({ role: 'assistant', text: message.text, call: null });
  if (message.toolCall === null) {
    await redis.publish(`answer:${thread}`, message.text);
    return;
  }
  const { operation, arguments: given } = message.toolCall;
  const dispatch: Dispatch = { thread, call: randomUUID(), operation, arguments: given };
  await bus.emit(topics.dispatches, thread, dispatch);
});
process.stdout.write('ready\n');

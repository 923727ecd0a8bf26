// Nest's own Kafka client and server, as its documentation shows them; decorators applied by hand, because Node strips
// types and does not compile decorators.
import 'reflect-metadata';
import { Controller, type INestMicroservice, Module, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { ClientKafka, EventPattern, type MicroserviceOptions, Payload, Transport } from '@nestjs/microservices';
import type { Socket } from 'node:net';
import { connect } from 'node:net';
import { required, settings } from './parts.ts';

const brokers = (): string[] => required('kafka').split(',');

/** As the cluster's adapter: no delay of small packets. */
function socketFactory({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }): Socket {
  const socket = connect({ host, port }, onConnect);
  socket.setNoDelay(true);
  return socket;
}

const client = (clientId: string) => ({ clientId, brokers: brokers(), socketFactory, logLevel: 1 });

export interface Emitter {
  /** Resolves when every in-sync replica has it. */
  emit(topic: string, key: string, value: object): Promise<void>;
}

export async function connectEmitter(clientId: string): Promise<Emitter> {
  const kafka = new ClientKafka({
    client: client(clientId),
    producerOnlyMode: true,
    producer: { allowAutoTopicCreation: false },
    send: { acks: -1 },
  });
  await kafka.connect();
  return {
    emit: (topic, key, value) =>
      new Promise((resolve, reject) => {
        kafka.emit(topic, { key, value }).subscribe({ error: reject, complete: resolve });
      }),
  };
}

/** Runs a handler of one topic until the process ends. */
export async function serveTopic<Message>(
  groupId: string,
  topic: string,
  handle: (message: Message) => Promise<void>,
): Promise<INestMicroservice> {
  class TopicController {
    on(message: Message): Promise<void> {
      return handle(message);
    }
  }
  const method = Object.getOwnPropertyDescriptor(TopicController.prototype, 'on');
  if (!method) throw new Error('a class has its own methods');
  EventPattern(topic)(TopicController.prototype, 'on', method);
  Payload()(TopicController.prototype, 'on', 0);
  Controller()(TopicController);
  class TopicModule {}
  Module({ controllers: [TopicController as Type] })(TopicModule);
  const app = await NestFactory.createMicroservice<MicroserviceOptions>(TopicModule, {
    transport: Transport.KAFKA,
    options: {
      client: client(groupId),
      consumer: {
        groupId: `${settings.prefix}${groupId}`,
        sessionTimeout: Number(settings.session),
        heartbeatInterval: 1_000,
        maxWaitTimeInMs: 200,
      },
      subscribe: { fromBeginning: true },
      // One handler per partition at once, not one per process: the most that `eachMessage` can do.
      run: { partitionsConsumedConcurrently: 12 },
    },
    logger: false,
  });
  await app.listen();
  return app;
}

import { Router } from 'express';
import { chatPlatforms } from '#shared/config/chat-environment.ts';
import { DeliveryService } from '#shared/deliveries/delivery-service.ts';
import { startReply } from '#shared/deliveries/start-reply.ts';
import { OpenStreams } from '#shared/http/open-streams.ts';
import { rememberRoutes } from '#shared/http/routes-of.ts';
import type { Parts } from '#shared/lifecycle/open-parts.ts';
import type { Service } from '#shared/lifecycle/service.ts';
import { connectRedis } from '#shared/redis/connect-redis.ts';
import { openScheduleParts } from '#shared/schedules/schedule-parts.ts';
import { scheduleCommands } from '#shared/schedules/session-commands.ts';
import { receiveMessage } from '#shared/sessions/receive-message.ts';
import type { ChatPlatform } from './chat-platform.ts';
import { CommandSender } from './command-sender.ts';
import { describeReceiver } from './describe-receiver.ts';
import { RECEIVER_PATH, receiveUpdate } from './receive-update.ts';
import { takeMessage, type TakeMessageParts } from './take-message.ts';

/** Connects chat platforms: `POST /chat/:platform` brings messages in, deliveries carry answers out. */
export function createChatService(parts: Parts): Service {
  const { config, log } = parts;
  const { chat, http } = config.settings;
  const platforms = new Map<string, ChatPlatform>();
  const sender = new CommandSender({ log, tries: chat.commandTries });
  const router = Router();
  const receive = receiveUpdate({
    log,
    maxBodyBytes: chat.maxBodyBytes,
    streams: new OpenStreams(http.maxStreams),
    findPlatform: (name) => platforms.get(name) ?? null,
  });
  router.post(RECEIVER_PATH, receive);
  router.get(RECEIVER_PATH, receive);
  rememberRoutes(router, describeReceiver(RECEIVER_PATH));
  let deliveries: DeliveryService | undefined;
  const start = async (): Promise<void> => {
    for (const platform of await open(parts, sender)) platforms.set(platform.name, platform);
    deliveries = openDeliveries(parts, [...platforms.values()]);
    deliveries.start();
    const names = [...platforms.keys()];
    const text = names.length === 0 ? 'no chat platform is on' : `chat platforms are on: ${names.join(', ')}`;
    log.info({ event: 'chat.started', platforms: names }, text);
  };
  const stop = async (graceMs: number): Promise<void> => {
    await Promise.all([
      ...[...platforms.values()].map((platform) => platform.stop(graceMs)),
      deliveries?.stop(graceMs),
      sender.stop(graceMs),
    ]);
  };
  return { name: 'chat', router, start, stop };
}

/** Callbacks are sent also where no platform is on. */
function openDeliveries(parts: Parts, platforms: readonly ChatPlatform[]): DeliveryService {
  const { config, log } = parts;
  return new DeliveryService({
    parts,
    ports: platforms.map(({ port }) => port),
    connect: () => connectRedis({ url: config.env.REDIS_URL, name: 'chat-deliveries', log, role: 'blocking' }),
  });
}

/** Without a platform nothing of the adapters is loaded. */
async function open(parts: Parts, sender: CommandSender): Promise<ChatPlatform[]> {
  const { config, log, redis, keys } = parts;
  if (chatPlatforms(config.env).length === 0) return [];
  const { openPlatforms } = await import('./open-platforms.ts');
  const tenant = config.env.MUSTER_CHAT_TENANT;
  const commands = scheduleCommands(openScheduleParts(parts));
  const takeParts: TakeMessageParts = {
    tenant,
    log,
    receive: (message) => receiveMessage({ ...parts, commands }, message),
    startReply: (task) => startReply(parts, tenant, task),
  };
  const platforms = await openPlatforms(config.env, {
    redis,
    keyPrefix: keys.fleet.chat,
    settings: config.settings.chat,
    idempotencyMs: config.settings.tasks.idempotencyMs,
    log,
    take: (surface, message) => takeMessage(takeParts, surface, message),
    tell: (port, thread, text) => sender.send(port, thread, text),
  });
  for (const platform of platforms) platform.start();
  return platforms;
}

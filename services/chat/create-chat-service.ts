import { Router } from 'express';
import { chatPlatforms } from '#shared/config/index.ts';
import { DeliveryService, startReply } from '#shared/deliveries/index.ts';
import { createServerLoad, RefusalLimit, rememberRoutes } from '#shared/http/index.ts';
import type { Parts, Service } from '#shared/lifecycle/index.ts';
import type { TenantKeys } from '#shared/redis/index.ts';
import { type JobSource, openJobSource, outboundSlots } from '#shared/queue/index.ts';
import { announcePlatforms, openScheduleParts, scheduleCommands } from '#shared/schedules/index.ts';
import { acceptMessage } from '#shared/sessions/index.ts';
import type { ChatPlatform } from './chat-platform.ts';
import { CommandSender } from './replies/command-sender.ts';
import { describeReceiver } from './receive/describe-receiver.ts';
import { RECEIVER_PATH, receiveUpdate } from './receive/receive-update.ts';
import { acceptChatMessage, type AcceptParts } from './receive/accept-chat-message.ts';

/** Connects chat platforms: `POST /chat/:platform` brings messages in, deliveries carry answers out. */
export function createChatService(parts: Parts): Service {
  const { config, log } = parts;
  const { chat, http, limits } = config.settings;
  const platforms = new Map<string, ChatPlatform>();
  const sender = new CommandSender({ log, tries: chat.commandTries });
  const router = Router();
  const receive = receiveUpdate({
    log,
    maxBodyBytes: chat.maxBodyBytes,
    bounds: { maxDepth: http.maxBodyDepth, maxValues: http.maxBodyValues },
    load: createServerLoad(http),
    refusals: new RefusalLimit({
      redis: parts.redis,
      prefix: `${parts.keys.fleet.http}:refused`,
      perMinute: limits.httpAnonymousPerMinute,
    }),
    findPlatform: (name) => platforms.get(name) ?? null,
  });
  router.post(RECEIVER_PATH, receive);
  router.get(RECEIVER_PATH, receive);
  rememberRoutes(router, describeReceiver(RECEIVER_PATH));
  let source: JobSource | undefined;
  let deliveries: DeliveryService | undefined;
  let stopAnnouncing: (() => void) | undefined;
  const start = async (): Promise<void> => {
    for (const platform of await open(parts, sender)) platforms.set(platform.name, platform);
    source = openJobSource(parts, 'chat-deliveries');
    deliveries = openDeliveries(parts, [...platforms.values()], source);
    deliveries.start();
    stopAnnouncing = await announcePlatforms(
      parts,
      [...platforms.values()].map(({ name }) => name),
    );
    const names = [...platforms.keys()];
    const text = names.length === 0 ? 'no chat platform is on' : `chat platforms are on: ${names.join(', ')}`;
    log.info({ event: 'chat.started', platforms: names }, text);
  };
  const stop = async (graceMs: number): Promise<void> => {
    stopAnnouncing?.();
    await Promise.all([
      ...[...platforms.values()].map((platform) => platform.stop(graceMs)),
      deliveries?.stop(graceMs),
      sender.stop(graceMs),
    ]);
    source?.close();
  };
  return { name: 'chat', router, start, stop, problems: () => deliveries?.problems() ?? [] };
}

/** Replies need a platform's secrets, which only this service has; callbacks are the workers'. */
function openDeliveries(parts: Parts, platforms: readonly ChatPlatform[], source: JobSource): DeliveryService {
  const { settings } = parts.config;
  const slots = platforms.length === 0 ? {} : { replies: outboundSlots(settings, 'replies') };
  return new DeliveryService({ parts, ports: platforms.map(({ port }) => port), source, slots });
}

/** Without a platform nothing of the adapters is loaded. */
async function open(parts: Parts, sender: CommandSender): Promise<ChatPlatform[]> {
  const { config, log, redis, keys } = parts;
  if (chatPlatforms(config.env).length === 0) return [];
  const { openPlatforms } = await import('./open-platforms.ts');
  const name = config.env.MUSTER_CHAT_TENANT;
  // Found for each message: a name may become another tenant's.
  const tenant = (): string => parts.tenants.find(name)?.id ?? name;
  const own = (): TenantKeys => keys.tenant(tenant());
  const commands = scheduleCommands(openScheduleParts(parts));
  const takeParts: AcceptParts = {
    tenant,
    log,
    access: config.settings.chat.access,
    receive: (message) => acceptMessage({ ...parts, commands }, message),
    startReply: (task) => startReply(parts, tenant(), task),
  };
  const platforms = await openPlatforms(config.env, {
    redis,
    keyPrefix: keys.fleet.chat,
    keys: {
      albumsDue: (platform) => own().albumsDue(platform),
      albumParts: (session) => own().albumParts(session),
      albumBatch: (session) => own().albumBatch(session),
      albumsTaken: (session) => own().albumsTaken(session),
    },
    settings: config.settings.chat,
    idempotencyMs: config.settings.tasks.idempotencyMs,
    log,
    take: (surface, message) => acceptChatMessage(takeParts, surface, message),
    tell: (port, thread, text) => sender.send(port, thread, text),
  });
  for (const platform of platforms) platform.start();
  return platforms;
}

import { Router } from 'express';
import { chatPlatforms } from '#shared/config/index.ts';
import { DeliveryService } from '#shared/deliveries/index.ts';
import { createServerLoad, RefusalLimit, rememberRoutes } from '#shared/http/index.ts';
import type { Parts, Service } from '#shared/lifecycle/index.ts';
import { type JobSource, openJobSource, outboundSlots } from '#shared/queue/index.ts';
import { announcePlatforms, openScheduleParts, scheduleCommands } from '#shared/schedules/index.ts';
import type { ChatPlatform, ChatPlatformParts } from './chat-platform.ts';
import { CommandSender } from './replies/command-sender.ts';
import { describeReceiver, RECEIVER_PATH, receiveUpdate } from './receive/receive-update.ts';
import { openDrivers } from './platforms/registry.ts';

/** Connects chat platforms: `POST /chat/:platform` receives messages, deliveries send replies. */
export function createChatService(parts: Parts): Service {
  const { config, log } = parts;
  const platforms = new Map<string, ChatPlatform>();
  const sender = new CommandSender({ log, tries: config.settings.chat.commandTries });
  const router = createReceiver(parts, platforms);
  let source: JobSource | undefined;
  let deliveries: DeliveryService | undefined;
  let stopAnnouncing: (() => void) | undefined;
  const start = async (): Promise<void> => {
    const opened = await openPlatforms(parts, sender);
    for (const platform of opened) {
      platforms.set(platform.name, platform);
      platform.start();
    }
    source = openJobSource(parts, 'chat-deliveries');
    deliveries = openDeliveries(parts, opened, source);
    deliveries.start();
    const names = opened.map(({ name }) => name);
    stopAnnouncing = await announcePlatforms(parts, names);
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

function createReceiver({ config, log, redis, keys, traces }: Parts, platforms: ReadonlyMap<string, ChatPlatform>): Router {
  const { chat, http, limits } = config.settings;
  const router = Router();
  const receive = receiveUpdate({
    log,
    traces,
    platforms,
    maxBodyBytes: chat.maxBodyBytes,
    bounds: { maxDepth: http.maxBodyDepth, maxValues: http.maxBodyValues },
    load: createServerLoad(http),
    refusals: new RefusalLimit({ redis, prefix: `${keys.fleet.http}:refused`, perMinute: limits.httpAnonymousPerMinute }),
  });
  router.post(RECEIVER_PATH, receive);
  router.get(RECEIVER_PATH, receive);
  rememberRoutes(router, describeReceiver(RECEIVER_PATH));
  return router;
}

/** Replies need a platform's secrets, which only this service has; callbacks are the workers'. */
function openDeliveries(parts: Parts, platforms: readonly ChatPlatform[], source: JobSource): DeliveryService {
  const { settings } = parts.config;
  const slots = platforms.length === 0 ? {} : { replies: outboundSlots(settings, 'replies') };
  return new DeliveryService({ parts, ports: platforms.map(({ port }) => port), source, slots });
}

/** Without a platform nothing of the adapters is loaded. */
async function openPlatforms(parts: Parts, sender: CommandSender): Promise<ChatPlatform[]> {
  const { config, log } = parts;
  if (chatPlatforms(config.env).length === 0) return [];
  const [{ ChatPlatform }, drivers] = await Promise.all([import('./chat-platform.ts'), openDrivers(config.env, log)]);
  const platformParts = chatPlatformParts(parts, sender);
  return drivers.map((driver) => new ChatPlatform(driver, platformParts));
}

function chatPlatformParts(parts: Parts, sender: CommandSender): ChatPlatformParts {
  const { config, log, redis, keys, tenants } = parts;
  const { chat, tasks, questions } = config.settings;
  const name = config.env.MUSTER_CHAT_TENANT;
  // Found for each message: a name may become another tenant's.
  const chatTenant = (): string => tenants.find(name)?.id ?? name;
  return {
    redis,
    keyPrefix: keys.fleet.chat,
    keys,
    albumKeys: () => keys.tenant(chatTenant()),
    settings: chat,
    idempotencyMs: tasks.idempotencyMs,
    questionMs: questions.maxWaitMs,
    log,
    accept: { ...parts, commands: scheduleCommands(openScheduleParts(parts)), settings: chat, chatTenant },
    sender,
  };
}

import { type Config, loadConfig } from './load-config.ts';

export interface ProducerConfigOptions {
  /** The fleet's Redis. Defaults to `REDIS_URL`. */
  redisUrl?: string | undefined;
  /** The fleet's configuration. Defaults to `MUSTER_CONFIG`, else `muster.config.ts` of the working directory. */
  configFile?: string | undefined;
}

/** What names like `PORT` and `LOG_LEVEL` mean is the program's own business. */
const OF_THE_FLEET = /^(MUSTER_|OPENAI_|REDIS_URL(_FILE)?$|SHARDS$)/;

/** The fleet's configuration, for a program that is none of its services. Errors: `config.invalid`. */
export async function loadProducerConfig({ redisUrl, configFile }: ProducerConfigOptions): Promise<Config> {
  const variables = Object.fromEntries(Object.entries(process.env).filter(([name]) => OF_THE_FLEET.test(name)));
  return await loadConfig({
    ...variables,
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl, REDIS_URL_FILE: '' }),
    ...(configFile === undefined ? {} : { MUSTER_CONFIG: configFile }),
  });
}

import type { BatchPorts } from './answer-request.ts';
import type { BatchClient } from './batch-client.ts';

/**
 * Has a provider delete files of a batch that nothing is read of any more: what people wrote is not to stay there. Nobody waits for it, and one that is not
 * deleted stays until the provider removes it.
 */
export function dropFiles({ log }: Pick<BatchPorts, 'log'>, client: BatchClient, files: readonly (string | null | undefined)[]): void {
  for (const file of new Set(files)) {
    if (!file) continue;
    void client.deleteFile(file).catch((error: unknown) => {
      log.debug({ event: 'model-batch.file-kept', file, err: error }, 'a file of a batch was not deleted at its provider');
    });
  }
}

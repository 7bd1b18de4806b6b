import type { EventSourceMessage } from 'eventsource-parser';
import { z } from 'zod';
import type { ApiClient } from './api-client.ts';
import { followStream, type StreamLimits } from './follow-stream.ts';

export interface TaskOutput {
  attempt: number;
  /** Grows within one run of an attempt. An attempt that was handed over starts again at 1 under its number. */
  seq: number;
  text: string;
}

export interface FollowOptions extends StreamLimits {
  api: ApiClient;
  taskId: string;
  onOutput: (output: TaskOutput) => void;
  /** The events after it are handled once it has resolved. */
  onStatus: (status: string) => Promise<void> | void;
}

const outputSchema = z.object({ attempt: z.number(), seq: z.number(), text: z.string() });
const statusSchema = z.object({ status: z.string() });

/** Reports what a task writes, as it is written, and resolves with its last status. Rejects as `followStream` does. */
export function followTask({ api, taskId, onOutput, onStatus, ...limits }: FollowOptions): Promise<string> {
  const onEvent = async ({ event, data }: EventSourceMessage): Promise<string | null> => {
    if (event === 'end') return statusSchema.parse(JSON.parse(data)).status;
    if (event === 'status') await onStatus(statusSchema.parse(JSON.parse(data)).status);
    if (event === 'output') onOutput(outputSchema.parse(JSON.parse(data)));
    // Events of other names belong to a newer server.
    return null;
  };
  return followStream({ ...limits, connect: () => api, path: `/v1/tasks/${encodeURIComponent(taskId)}/stream`, onEvent });
}

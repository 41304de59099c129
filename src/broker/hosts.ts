/** Where the broker listens: one listener on loopback, and with TLS another for programs outside. */
import { openHost } from './host.ts';
import type { Host, HostOptions, Identification } from './host.ts';

export interface Listening {
  readonly address?: string;
  readonly port?: number;
  readonly tls?: Identification;
  readonly publicUrl?: string;
}

/** The endpoint for the agents that skep runs, and for other programs; one broker behind both. */
export interface Hosts extends Host {
  readonly publicEndpoint: string;
  /** It is the same after the next start. */
  readonly lasting: boolean;
}

/** With TLS there are two: what a certificate is good for is no matter of the agents that run here. */
export async function openHosts({ address, port, tls, publicUrl }: Listening, common: HostOptions): Promise<Hosts> {
  const outside = {
    ...common,
    ...(address === undefined ? {} : { address }),
    ...(port === undefined ? {} : { port }),
    ...(publicUrl === undefined ? {} : { endpoint: publicUrl }),
  };
  const lasting = publicUrl !== undefined || (port ?? 0) !== 0;
  if (tls === undefined) {
    const host = await openHost(outside);
    return { ...host, publicEndpoint: publicUrl ?? host.endpoint, lasting };
  }
  const inside = await openHost(common);
  try {
    const host = await openHost({ ...outside, tls });
    return {
      endpoint: inside.endpoint,
      publicEndpoint: publicUrl ?? host.endpoint,
      lasting,
      close: async (graceMs) => {
        await Promise.all([inside.close(graceMs), host.close(graceMs)]);
      },
    };
  } catch (error) {
    await inside.close(0);
    throw error;
  }
}

// Keeps connections of outbound requests open for the next request to the same addresses.
import type { LookupAddress } from 'node:dns';
import { Agent } from 'node:http';
import { Agent as SecureAgent } from 'node:https';

export type ConnectionPool = {
  /** A pooled connection never leads to an address that was not checked for this request. */
  readonly agentFor: (url: URL, addresses: readonly LookupAddress[]) => Agent;
  readonly close: () => void;
};

type PoolLimits = {
  /** An unused connection is closed after this time. */
  readonly idleMs: number;
  /** Unused connections to one origin. */
  readonly maxIdlePerOrigin: number;
};

export function createConnectionPool({ idleMs, maxIdlePerOrigin }: PoolLimits): ConnectionPool {
  const agents = new Map<string, Agent>();
  const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdlePerOrigin };
  const open = (key: string, { protocol }: URL): Agent => {
    for (const [name, agent] of agents) if (isUnused(agent)) agents.delete(name);
    const agent = protocol === 'https:' ? new SecureAgent(options) : new Agent(options);
    agents.set(key, agent);
    return agent;
  };
  return {
    agentFor: (url, addresses) => {
      const key = [url.origin, ...addresses.map(({ address }) => address).sort()].join(' ');
      return agents.get(key) ?? open(key, url);
    },
    close: () => {
      for (const agent of agents.values()) agent.destroy();
      agents.clear();
    },
  };
}

const isUnused = ({ sockets, freeSockets, requests }: Agent): boolean =>
  [sockets, freeSockets, requests].every((each) => Object.keys(each).length === 0);

import { configKeys } from '../../src/contract/config/config-keys.ts'
import { code, page } from './markdown.ts'

/** The reference of the configuration: every key, what it may be, and what it is when left out. */
export function configPage(): string {
  const keys = configKeys()
  return page('Configuration', [
    "The user's file is `$XDG_CONFIG_HOME/muster/config.yaml` (`MUSTER_CONFIG` names another); a project's is the nearest `.muster.yaml`. `sm config show --origin` prints what is in force.",
    ...keys.map(({ key, description, values, default: usual, isSection }) =>
      isSection
        ? [`## ${code(key)}`, description].join('\n\n')
        : [
            `### ${code(key)}`,
            description,
            `Value: ${values}. ${usual === undefined ? 'No default.' : `Default: ${code(JSON.stringify(usual))}.`}`,
          ].join('\n\n'),
    ),
  ])
}

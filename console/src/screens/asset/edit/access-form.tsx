// Access rules: sites, networks and countries that may play the asset, and whether it may be downloaded.
import type { AccessRules, Asset, UpdateAssetRequest } from '@mediary/client';
import { Switch, TagsInput, type TagsInputProps, Text } from '@mantine/core';
import { COUNTRY_CODES } from '@mediary/contract/country-codes';
import type { EditorProps } from './asset-editor.tsx';
import { EditForm } from './edit-form.tsx';

type Fields = {
  readonly sites: string[];
  readonly allowsNoReferrer: boolean;
  readonly networks: string[];
  readonly countries: string[];
  readonly allowsDownloads: boolean;
};

const fieldsOf = ({ access }: Asset): Fields => ({
  sites: [...(access?.referrers ?? [])],
  allowsNoReferrer: access?.allow_no_referrer ?? false,
  networks: [...(access?.networks ?? [])],
  countries: [...(access?.countries ?? [])],
  allowsDownloads: access?.downloads ?? true,
});

/** The service makes null of rules that restrict nothing. */
function toRequest({ sites, allowsNoReferrer, networks, countries, ...fields }: Fields): UpdateAssetRequest {
  const access: AccessRules = {
    ...(sites.length > 0 && { referrers: sites, allow_no_referrer: allowsNoReferrer }),
    ...(networks.length > 0 && { networks }),
    ...(countries.length > 0 && { countries }),
    downloads: fields.allowsDownloads,
  };
  return { access };
}

export const AccessForm = ({ asset, session }: EditorProps) => (
  <EditForm asset={asset} session={session} fieldsOf={fieldsOf} toRequest={toRequest}>
    {(fields, onChange) => <Inputs fields={fields} onChange={onChange} />}
  </EditForm>
);

type InputsProps = { readonly fields: Fields; readonly onChange: (members: Partial<Fields>) => void };

const Inputs = ({ fields, onChange }: InputsProps) => (
  <>
    <Text size="sm">Viewers must meet every rule that is set. This console is always allowed as a site.</Text>
    <EntriesInput
      label="Sites"
      description="Their pages may play it, such as www.example.com or *.example.com. None: all sites."
      value={fields.sites}
      onChange={(sites) => onChange({ sites })}
    />
    {fields.sites.length > 0 && (
      <Switch
        label="Also requests that name no site"
        description="Native apps send such requests, and pages that hide where they are."
        checked={fields.allowsNoReferrer}
        onChange={({ currentTarget }) => onChange({ allowsNoReferrer: currentTarget.checked })}
      />
    )}
    <EntriesInput
      label="Networks"
      description="Addresses of viewers, such as 203.0.113.0/24. None: all networks."
      value={fields.networks}
      onChange={(networks) => onChange({ networks })}
    />
    <EntriesInput
      label="Countries"
      description="Codes such as DE. None: all countries."
      data={COUNTRY_CODES}
      maxDropdownHeight={200}
      value={fields.countries}
      onChange={(countries) => onChange({ countries })}
    />
    <Switch
      label="Downloads"
      description="Off: no MP4 and M4A files, and download URLs for service keys alone."
      checked={fields.allowsDownloads}
      onChange={({ currentTarget }) => onChange({ allowsDownloads: currentTarget.checked })}
    />
  </>
);

/** A list that takes what is written also when the user goes on without Enter. */
const EntriesInput = (props: TagsInputProps) => <TagsInput {...props} acceptValueOnBlur clearable />;

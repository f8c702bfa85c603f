# Sends a body that is refused, and prints the status of each try.
import http.client
import json
import sys
import urllib.parse

module = sys.argv[1]
method, url, headers, path, tries = json.loads(sys.argv[2])
body = open(path, "rb").read()


def by_http_client():
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request(method, f"{parts.path}?{parts.query}", body, headers)
    return connection.getresponse().status


def by_requests():
    import requests

    return requests.request(method, url, headers=headers, data=body).status_code


send = by_requests if module == "requests" else by_http_client
for _ in range(tries):
    print(send())

"""What is at the other end of a guest's cable: a thread of this process on a datagram socket."""
import socket, threading

NETDEV = "dgram,local.type=unix,local.path={folder}/card,remote.type=unix,remote.path={folder}/reader"


class Outside:
    """Runs work() beside the guest; work() returns some time after `ending` is set."""

    def __init__(self, folder):
        self.card, self.ending = str(folder / "card"), threading.Event()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.settimeout(0.1)
        self.socket.bind(str(folder / "reader"))
        self.thread = threading.Thread(target=self.work)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
        self.socket.close()
